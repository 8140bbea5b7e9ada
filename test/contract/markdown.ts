import { readFileSync } from 'node:fs';

export interface CodeBlock {
  language: string;
  /** Where the page asks the reader to save it. */
  file: string | undefined;
  /** `run` for commands that end, `start` for one that stays, `test` for commands that need what was saved. */
  role: string | undefined;
  code: string;
}

export function readDoc(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** The fenced blocks of a page, in order. */
export function codeBlocks(name: string): CodeBlock[] {
  return [...readDoc(name).matchAll(/^```(\w*)(?: (.*))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', info = '', code = '']) => ({
      language,
      file: /file=(\S+)/.exec(info)?.[1],
      role: /(?<!\S)(run|start|test)(?!\S)/.exec(info)?.[1],
      code,
    }),
  );
}

/** The block that is saved under this name. */
export function fileBlock(name: string, file: string): string {
  const found = codeBlocks(name).find((block) => block.file === file);
  if (!found) throw new Error(`docs/${name} has no file ${file}`);
  return found.code;
}
