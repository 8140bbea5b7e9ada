// `npm run neighbours`: measures what a partner that sends the largest inputs costs another partner's exchanges. It exits with 1
// if a target is missed.
import { parseArgs } from 'node:util';
import { type Findings, runNeighbours } from './run.ts';
import type { Answer } from './victim.ts';

const help = `npm run neighbours -- [options]

  --rounds N     rounds, each with exchanges alone and beside the attacker (4)
  --exchanges N  exchanges of each kind in a round (60)
  --every N      milliseconds between two exchanges (150)
`;

const targets = { ratio: 2, answerMs: 5_000, memoryMb: 512 };

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '4' },
        exchanges: { type: 'string', default: '60' },
        every: { type: 'string', default: '150' },
        help: { type: 'boolean', default: false },
      },
    });
    const [rounds = 0, exchanges = 0, everyMs = 0] = [values.rounds, values.exchanges, values.every].map(
      Number,
    );
    if (!(rounds >= 1 && exchanges >= 1 && everyMs >= 1))
      throw new Error('each option takes a number from 1 on');
    return { rounds, exchanges, everyMs, help: values.help };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

const quantile = (answers: readonly Answer[], share: number): number => {
  const sorted = answers.map(({ ms }) => ms).sort((one, two) => one - two);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
};

function report({ alone, beside, ready, memory, attack }: Findings): { text: string; isMet: boolean } {
  const row = (name: string, answers: readonly Answer[]) => {
    const times = [0.5, 0.99, 1].map((share) => quantile(answers, share).toFixed(1));
    const failed = answers.filter(({ status }) => status !== 200).length;
    return `| ${name} | ${answers.length} | ${times.join(' | ')} | ${failed} |`;
  };
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99);
  const late = [...alone, ...beside].filter(({ ms }) => ms > targets.answerMs).length;
  const facts: [fact: string, value: string, target: string, isMet: boolean][] = [
    ['p99 beside / p99 alone', ratio.toFixed(2), `at most ${targets.ratio}`, ratio <= targets.ratio],
    [`answers over ${targets.answerMs / 1000} s`, String(late), 'none', late === 0],
    ['/readyz', [...ready].join(' '), '200', [...ready].every((status) => status === 200)],
    [
      'most memory of a process',
      `${memory.toFixed(0)} MB`,
      `${targets.memoryMb} MB`,
      memory <= targets.memoryMb,
    ],
  ];
  const text = [
    '| exchanges | number | p50 ms | p99 ms | longest ms | not 200 |',
    '| --- | --: | --: | --: | --: | --: |',
    row('alone', alone),
    row('beside the attacker', beside),
    '',
    '| | | target | |',
    '| --- | --: | --: | --- |',
    ...facts.map(
      ([fact, value, target, isMet]) => `| ${fact} | ${value} | ${target} | ${isMet ? 'met' : 'missed'} |`,
    ),
    '',
    '| calls of the attacker | answers by status |',
    '| --- | --- |',
    ...attack.map(({ name, statuses }) => {
      const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
      return `| ${name} | ${counts.join(', ')} |`;
    }),
    '',
  ].join('\n');
  return { text, isMet: facts.every(([, , , isMet]) => isMet) };
}

const { help: wantsHelp, ...wanted } = readOptions();
if (wantsHelp) process.stdout.write(help);
else {
  const { text, isMet } = report(await runNeighbours(wanted));
  process.stdout.write(text);
  process.exitCode = isMet ? 0 : 1;
}
