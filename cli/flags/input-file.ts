import { readFileSync } from 'node:fs';

const stdin = 0;

/** Reads the text of a file that a flag names; `-` is stdin. @throws Error of the file system */
export const readInputFile = (path: string): string => readFileSync(path === '-' ? stdin : path, 'utf8');
