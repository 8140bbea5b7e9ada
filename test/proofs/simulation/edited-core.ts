import * as crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import * as lruCache from 'lru-cache';
import * as mongodb from 'mongodb';
import ts from 'typescript';
import * as chargeContract from '../../../contracts/charge.ts';
import * as identifiers from '../../../contracts/identifiers.ts';
import * as retention from '../../../contracts/retention.ts';
import * as cacheSizes from '../../../server/billing/ledger/cache-sizes.ts';
import * as batchWindow from '../../../server/platform/batching/batch-window.ts';
import * as cacheSize from '../../../server/platform/batching/cache-size.ts';
import * as grouping from '../../../server/platform/batching/group-by.ts';
import * as groupCommit from '../../../server/platform/batching/group-commit.ts';
import * as turns from '../../../server/platform/batching/turns.ts';
import * as dryRun from '../../../server/platform/database/audit/dry-run.ts';
import * as connect from '../../../server/platform/database/connect.ts';
import * as failures from '../../../server/platform/database/failures.ts';
import * as jointReads from '../../../server/platform/database/reads/joint-reads.ts';
import * as errors from '../../../server/platform/errors.ts';
import * as windows from '../../../server/platform/http/limits/windows.ts';
import * as ids from '../../../server/platform/ids.ts';
import * as rendezvousHash from '../../../server/platform/jobs/rendezvous-hash.ts';
import * as authenticatedJson from '../../../server/platform/keys/authenticated-json.ts';
import type { BillingCore } from './billing-core.ts';

/** One replacement of source text in a file of server/billing. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** Modules outside server/billing, which stay unchanged; paths from `server`. */
const others: Record<string, unknown> = {
  'lru-cache': lruCache,
  mongodb,
  'node:crypto': crypto,
  '../contracts/charge.ts': chargeContract,
  '../contracts/identifiers.ts': identifiers,
  '../contracts/retention.ts': retention,
  'platform/batching/batch-window.ts': batchWindow,
  'platform/database/connect.ts': connect,
  'platform/database/audit/dry-run.ts': dryRun,
  'platform/database/failures.ts': failures,
  'platform/database/reads/joint-reads.ts': jointReads,
  'platform/errors.ts': errors,
  'platform/ids.ts': ids,
  'platform/jobs/rendezvous-hash.ts': rendezvousHash,
  'platform/keys/authenticated-json.ts': authenticatedJson,
  'platform/batching/cache-size.ts': cacheSize,
  'platform/batching/group-by.ts': grouping,
  'platform/batching/group-commit.ts': groupCommit,
  'platform/batching/turns.ts': turns,
  'platform/http/limits/windows.ts': windows,
};

function editedSource(file: string, edits: readonly Edit[]): string {
  let source = readFileSync(new URL(`../../../server/billing/${file}`, import.meta.url), 'utf8');
  for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
    if (source.split(find).length !== 2) throw new Error(`${file} does not contain once: ${find}`);
    source = source.replace(find, () => replace);
  }
  return source;
}

/** Compiles the product with edited sources in memory. The files use the real modules outside server/billing. */
export function editedCore(edits: readonly Edit[]): BillingCore {
  const loaded = new Map<string, unknown>([['ledger/cache-sizes.ts', cacheSizes]]);

  function load(file: string): unknown {
    const known = loaded.get(file);
    if (known) return known;
    const exports = {};
    loaded.set(file, exports);
    const { outputText } = ts.transpileModule(editedSource(file, edits), {
      compilerOptions: {
        module: ts.ModuleKind.CommonJS,
        target: ts.ScriptTarget.ES2023,
        verbatimModuleSyntax: false,
      },
    });
    new Function('exports', 'require', outputText)(exports, (name: string) => {
      const path = name.startsWith('.') ? posix.join('billing', posix.dirname(file), name) : name;
      if (path.startsWith('billing/')) return load(path.slice('billing/'.length));
      if (!(path in others)) throw new Error(`${file} imports ${name}, which the simulation does not know`);
      return others[path];
    });
    return exports;
  }

  const handedOver = ['hand-over', 'take-over', 'writers', 'messages'].map((name) => `hand-over/${name}`);
  const files = [
    'ledger/heads',
    'ledger/ledger-writer',
    'charge',
    'manual-entries',
    'publishing',
    ...handedOver,
  ];
  return Object.assign({}, ...files.map((file) => load(`${file}.ts`))) as BillingCore;
}
