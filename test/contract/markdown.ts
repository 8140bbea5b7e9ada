import { readFileSync } from 'node:fs';

export interface CodeBlock {
  language: string;
  /** The file name under which the page asks the reader to save the block. */
  file: string | undefined;
  /** `run`: commands that end. `start`: a command that keeps running. `test`: commands that need saved files. */
  role: string | undefined;
  code: string;
}

export function readDoc(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** Returns the code blocks of a page, in order. */
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

/** Returns the code block with this file name. @throws Error if the page has none */
export function fileBlock(name: string, file: string): string {
  const found = codeBlocks(name).find((block) => block.file === file);
  if (!found) throw new Error(`docs/${name} has no file ${file}`);
  return found.code;
}
