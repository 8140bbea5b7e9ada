import { type Fault, leastRolledBack, type Report } from './drill.ts';

/** The least number of tokens per election that clients must get. */
const leastTokensPerElection = 10;

/** Describes the reasons why a drill proves nothing. */
export function shortfall({ elections, rolledBack, figures }: Report, due: number): string[] {
  const least = leastRolledBack(due);
  return [
    ...(elections >= due ? [] : [`${elections} elections instead of ${due}`]),
    ...(rolledBack === undefined || rolledBack >= least
      ? []
      : [`${rolledBack} writes were rolled back, at least ${least} are due`]),
    ...(figures.tokens >= due * leastTokensPerElection ? [] : [`only ${figures.tokens} tokens`]),
    ...(figures.events >= due ? [] : [`only ${figures.events} events`]),
  ];
}

/** Returns the faults that fail a drill. A late answer is reported, but does not fail it, because nothing is lost. */
export const failuresOf = ({ faults }: Report): Fault[] => faults.filter(({ means }) => means !== 'late');

/** Returns the result of a drill as lines of text. */
export function describe(report: Report): string {
  const { elections, kinds, rolledBack, silentElections, figures, faults, logs } = report;
  const ofKinds = Object.entries(kinds).map(([kind, count]) => `${count} × ${kind}`);
  const words = new Set(
    faults.map((fault) => `✗ election ${fault.election} (${fault.kind}), ${fault.means}: ${fault.words}`),
  );
  return [
    `${elections} elections: ${ofKinds.join(', ')}`,
    `writes rolled back: ${rolledBack ?? 'not known'}; elections that committed writes without an answer: ${silentElections}`,
    `${figures.clients} clients: ${figures.tokens} tokens, ${figures.lostAnswers} answers lost with their charge named; ${figures.charges} charges`,
    `${figures.flows} hosted flows; ${figures.events} events, ${figures.repeatedPosts} delivered again`,
    ...words,
    ...(logs === undefined ? [] : [`the warnings of the servers are in ${logs}`]),
    ...(failuresOf(report).length === 0 ? ['✓ nothing is lost or doubled'] : []),
  ].join('\n');
}
