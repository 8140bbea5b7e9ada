import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import type { Plan } from './facade/replica-set.ts';

/** One replacement of text in a compiled file. */
interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** The product with one safeguard removed. */
export interface Mutant {
  name: string;
  title: string;
  edits: readonly Edit[];
  /** The kinds of elections that need this safeguard most. */
  plan?: Partial<Plan>;
}

const connect = 'server/platform/database/connect.js';
const failures = 'server/platform/database/failures.js';
const heads = 'server/billing/ledger/heads.js';
const writer = 'server/billing/ledger/ledger-writer.js';
const store = 'server/billing/ledger/ledger-store.js';
const insert = 'server/billing/ledger/page-insert.js';

export const mutants: readonly Mutant[] = [
  {
    name: 'w-1',
    title: 'a ledger page is confirmed by the primary alone',
    edits: [
      {
        file: store,
        find: 'ordered: false, writeConcern }',
        replace: 'ordered: false, writeConcern: { w: 1, j: true } }',
      },
    ],
  },
  {
    name: 'local-reads',
    title: 'reads show what may be rolled back',
    edits: [
      {
        file: connect,
        find: "readConcern: { level: 'majority' }",
        replace: "readConcern: { level: 'local' }",
      },
    ],
    // A page on top of a rolled-back page must be fenced separately, because its state contains lost charges.
    plan: { kinds: ['step-down', 'crash'], stepEvery: [20, 80], longGaps: 1, longGap: [1_600, 4_000] },
  },
  {
    name: 'head-kept',
    title: 'an unconfirmed page becomes a head, which is kept over an election',
    edits: [
      { file: heads, find: 'clear: () => heads.clear()', replace: 'clear: () => undefined' },
      {
        file: writer,
        find: 'return fail(drafted, result);',
        replace: 'heads.set(drafted.page, sentAt); return fail(drafted, result);',
      },
    ],
    plan: { longGaps: 0.8, longGap: [4_500, 7_000] },
  },
  {
    name: 'resend-blind',
    title: 'a page is sent again, and the one that stands is taken for it without looking',
    edits: [{ file: insert, find: 'existing.attempt === page.attempt ?', replace: 'existing ?' }],
  },
  {
    name: 'not-writable-forgotten',
    title: 'NotWritablePrimary is not known as an error of a database that is away',
    edits: [{ file: failures, find: "    [10_107, 'NotWritablePrimary'],\n", replace: '' }],
    plan: { kinds: ['step-down'], lag: [0, 0], longGaps: 1, longGap: [4_500, 7_000] },
  },
  {
    name: 'write-concern-ignored',
    title: 'a failed write concern is taken for an acknowledgement',
    edits: [
      {
        file: store,
        find: 'documents: pages.map(stored), ordered: false, writeConcern }, { ignoreUndefined: true }))',
        replace:
          "documents: pages.map(stored), ordered: false, writeConcern }, { ignoreUndefined: true }).catch((error) => { if (error.name === 'MongoWriteConcernError') return {}; throw error; }))",
      },
    ],
  },
];

const root = fileURLToPath(
  new URL(import.meta.url.includes('/dist/') ? '../../../..' : '../../..', import.meta.url),
);
const programOf = (directory: string) => join(directory, 'dist/server/main.js');

/** The unchanged product from `npm run build`. */
export const productProgram = programOf(root);

/**
 * Copies the built product, and makes the edits of a mutant in the copy.
 * @returns the path of its program
 * @throws if the text of an edit does not occur exactly once
 */
export function buildMutant({ edits }: Mutant): string {
  const directory = temporaryFolder('drill-mutant');
  for (const name of ['server', 'contracts', 'site', 'embedded-database'])
    cpSync(join(root, 'dist', name), join(directory, 'dist', name), { recursive: true });
  cpSync(join(root, 'package.json'), join(directory, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const { file, find, replace } of edits) {
    const path = join(directory, 'dist', file);
    const source = readFileSync(path, 'utf8');
    if (source.split(find).length !== 2) throw new Error(`${file} does not contain once: ${find}`);
    writeFileSync(
      path,
      source.replace(find, () => replace),
    );
  }
  return programOf(directory);
}
