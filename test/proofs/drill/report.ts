import type { Fault, Report } from './drill.ts';

/** The number of rolled-back writes per election that makes a drill meaningful: 500 in 200. */
const rolledBackEach = 2.5;
/** The number of tokens per election that clients must get. */
const tokensEach = 10;

/** The reasons why a drill proves nothing, as text. */
export function shortfall({ elections, rolledBack, figures }: Report, due: number): string[] {
  const least = Math.floor(due * rolledBackEach);
  return [
    ...(elections === due ? [] : [`${elections} elections instead of ${due}`]),
    ...(rolledBack === undefined || rolledBack >= least
      ? []
      : [`${rolledBack} writes were rolled back, at least ${least} are due`]),
    ...(figures.tokens >= due * tokensEach ? [] : [`only ${figures.tokens} tokens`]),
    ...(figures.events >= due ? [] : [`only ${figures.events} events`]),
  ];
}

/** The faults that fail a drill. A late answer is reported, but is no loss. */
export const failuresOf = ({ faults }: Report): Fault[] => faults.filter(({ means }) => means !== 'late');

/** The result of a drill as lines of text. */
export function describe(report: Report): string {
  const { elections, kinds, rolledBack, committedSilently, figures, faults, logs } = report;
  const ofKinds = Object.entries(kinds).map(([kind, count]) => `${count} × ${kind}`);
  const words = new Set(
    faults.map((fault) => `✗ election ${fault.election} (${fault.kind}), ${fault.means}: ${fault.words}`),
  );
  return [
    `${elections} elections: ${ofKinds.join(', ')}`,
    `writes rolled back: ${rolledBack ?? 'not known'}; elections that committed writes without an answer: ${committedSilently}`,
    `${figures.clients} clients: ${figures.tokens} tokens, ${figures.lostAnswers} answers lost with their charge named; ${figures.charges} charges`,
    `${figures.flows} hosted flows; ${figures.events} events, ${figures.repeatedPosts} delivered again`,
    ...words,
    ...(logs === undefined ? [] : [`the warnings of the servers are in ${logs}`]),
    ...(failuresOf(report).length === 0 ? ['✓ nothing is lost or doubled'] : []),
  ].join('\n');
}
