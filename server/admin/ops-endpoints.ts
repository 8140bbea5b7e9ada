import type { ListedHealth } from '../../contracts/admin/endpoint-health.ts';
import { link, percent, type RecordCell, text, texts, time, to } from './ops-cells.ts';

const newestAnswer = ({ answers }: ListedHealth): string | null =>
  answers.toSorted((one, other) => other.lastAt.localeCompare(one.lastAt))[0]?.answer ?? null;

/** The health of an endpoint as a row of a table. */
export const endpointRow = (health: ListedHealth): RecordCell[] => [
  link(health.state, 'endpoint', health.keyId),
  ...texts(
    health.mode,
    newestAnswer(health),
    time(health.failingSince),
    percent(health.successShare),
    health.queued,
  ),
  ...[text(health.cause), to('endpoint', health.keyId)],
];

export const endpointHeadings = [
  ...['State', 'Mode', 'Last answer', 'Failing since', 'Success', 'Due', 'Why they wait', 'Key'],
];
