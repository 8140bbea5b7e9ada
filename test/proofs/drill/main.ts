// `npm run drill`: holds elections of a replica set under load, and checks money, events and users. It exits with 1 if
// there is a fault, or if too little happened to prove anything.
import { parseArgs } from 'node:util';
import { createRandom } from '../simulation/random.ts';
import { type Cluster, openFacade, openReal } from './cluster.ts';
import { type Report, runDrill } from './drill.ts';
import type { Plan } from './facade/replica-set.ts';
import { buildMutant, type Mutant, mutants, productProgram } from './mutants.ts';
import { describe, failuresOf, shortfall } from './report.ts';

const help = `npm run drill -- [options]

  --elections N   how many (200; with a mutant, at most 60)
  --servers N     processes of the product (2)
  --seed N        decides kinds and moments of the elections
  --mutant NAME   drills the product without one of its safeguards, until that is found
  --mutants       drills all mutants, one after another
  --list          the names of the mutants, and nothing else

DRILL_MONGODB_URI names a replica set of MongoDB to drill in place of the facade.
`;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        elections: { type: 'string' },
        servers: { type: 'string', default: '2' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        mutant: { type: 'string', multiple: true, default: [] },
        mutants: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const named = values.mutant.map((name) => {
      const mutant = mutants.find((each) => each.name === name);
      if (!mutant) throw new Error(`no mutant is named "${name}": --list shows them`);
      return mutant;
    });
    const chosen = values.mutants ? mutants : named;
    const elections = Number(values.elections ?? (chosen.length > 0 ? 60 : 200));
    const [seed, servers] = [Number(values.seed), Number(values.servers)];
    if (!(elections >= 1 && seed >= 0 && servers >= 1)) {
      throw new Error('--elections, --servers and --seed take a number');
    }
    return { ...values, chosen, elections, servers, seed };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

const { chosen, elections, servers, seed, list, help: wantsHelp } = readOptions();
if (wantsHelp || list) {
  process.stdout.write(wantsHelp ? help : mutants.map(({ name, title }) => `${name}: ${title}\n`).join(''));
  process.exit(0);
}

const realUri = process.env['DRILL_MONGODB_URI'];
const writeLine = (line: string) => process.stderr.write(`${line}\n`);

async function drill(program: string, plan: Partial<Plan>, untilFault: boolean): Promise<Report> {
  const random = createRandom(seed);
  const broken: unknown[] = [];
  const onFault = (error: unknown) => broken.push(error);
  const cluster: Cluster = realUri ? await openReal(realUri) : await openFacade({ random, plan, onFault });
  try {
    const report = await runDrill({
      ...{ cluster, random, elections, servers, program, untilFault, signal: interrupt.signal },
      progress: (n, { kind, rolledBack }) =>
        writeLine(
          `  election ${n}: ${kind}${rolledBack === undefined ? '' : `, ${rolledBack} writes rolled back`}`,
        ),
    });
    if (broken.length > 0) throw new Error('the facade failed, and proves nothing', { cause: broken[0] });
    return report;
  } finally {
    await cluster.close();
  }
}

/** @returns whether the mutant was found */
async function drillMutant(mutant: Mutant): Promise<boolean> {
  writeLine(`${mutant.name}: ${mutant.title}`);
  const { faults, elections: held } = await drill(buildMutant(mutant), mutant.plan ?? {}, true);
  const first = faults.find(({ means }) => means === 'wrong');
  const found = first
    ? `found by election ${first.election} (${first.kind}): ${first.words}`
    : `not found in ${held} elections`;
  process.stdout.write(`${first ? '✓' : '✗'} ${mutant.name}: ${found}\n`);
  return first !== undefined;
}

// After the first interrupt, the drill ends with a report after the present election. The second interrupt ends the process.
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => (interrupt.signal.aborted ? process.exit(1) : interrupt.abort()));
}
writeLine(`seed ${seed}`);
let failed = false;
if (chosen.length === 0) {
  const report = await drill(productProgram, {}, false);
  const lacking = shortfall(report, elections);
  process.stdout.write(`${describe(report)}\n${lacking.map((each) => `✗ ${each}\n`).join('')}`);
  failed = failuresOf(report).length > 0 || lacking.length > 0;
}
for (const mutant of chosen) if (!(await drillMutant(mutant))) failed = true;
process.exit(failed ? 1 : 0);
