import { readFileSync } from 'node:fs';

const stdin = 0;

/** Reads the bytes of a file that a flag names; `-` is stdin. @throws Error of the file system */
export const readInputFile = (path: string): Buffer => readFileSync(path === '-' ? stdin : path);
