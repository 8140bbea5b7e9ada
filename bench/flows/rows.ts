import { type Measurement, medianOf } from '../measure.ts';
import type { Row } from '../rounds.ts';
import { median } from '../statistics.ts';

/** Of one round: flows instead of requests. */
export interface FlowMeasurement extends Measurement {
  /** HTTP requests per flow. */
  requests: number;
}

export type FlowRow = Row<FlowMeasurement>;

/** A line of the table: whole journeys per second, and milliseconds from the first request to the claims. */
export interface JourneyRow
  extends Pick<FlowMeasurement, 'rate' | 'p50' | 'p99' | 'serverCpu' | 'databaseCpu'> {
  title: string;
}

export interface FlowFigures {
  rows: FlowRow[];
  journeys: JourneyRow[];
}

export function medianOfFlows(rounds: readonly FlowMeasurement[]): FlowMeasurement {
  return { ...medianOf(rounds), requests: median(rounds.map((one) => one.requests)) };
}
