import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import ts from 'typescript';
import type * as webhooksModule from '../../../server/webhooks/webhooks.ts';

/** One replacement of source text in a file of the product. */
export interface Edit {
  /** The path from the root of the repository. */
  file: string;
  find: string;
  replace: string;
}

export type WebhooksCore = Pick<typeof webhooksModule, 'createWebhooks'>;

const root = new URL('../../../', import.meta.url);
const requirePackage = createRequire(import.meta.url);
const compiled = new Map<string, string>();

function sourceOf(file: string, edits: readonly Edit[]): string {
  let source = readFileSync(new URL(file, root), 'utf8');
  for (const { find, replace } of edits) {
    if (source.split(find).length !== 2) throw new Error(`${file} does not contain once: ${find}`);
    source = source.replace(find, () => replace);
  }
  return source;
}

const compile = (source: string): string =>
  ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2023,
      esModuleInterop: true,
    },
  }).outputText;

/** Compiles a file of the product. Files without edits are compiled once for all cores. */
function codeOf(file: string, edits: readonly Edit[]): string {
  if (edits.length > 0) return compile(sourceOf(file, edits));
  const code = compiled.get(file) ?? compile(sourceOf(file, []));
  compiled.set(file, code);
  return code;
}

/** Loads the webhooks of the product with edited sources, in memory. Packages are the real ones. */
export function editedWebhooks(edits: readonly Edit[]): WebhooksCore {
  const loaded = new Map<string, unknown>();
  const used = new Set<Edit>();

  function load(file: string): unknown {
    const known = loaded.get(file);
    if (known) return known;
    const exports = {};
    loaded.set(file, exports);
    const ofFile = edits.filter((edit) => edit.file === file);
    for (const edit of ofFile) used.add(edit);
    new Function('exports', 'require', codeOf(file, ofFile))(exports, (name: string) => {
      if (name.startsWith('.')) return load(posix.join(posix.dirname(file), name));
      return requirePackage(name);
    });
    return exports;
  }

  const core = load('server/webhooks/webhooks.ts') as WebhooksCore;
  if (used.size < edits.length) throw new Error('an edited file is not part of the webhooks');
  return core;
}
