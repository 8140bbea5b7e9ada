import { readFileSync } from 'node:fs';

const stdin = 0;

/** The text of a file in UTF-8, without the byte order mark that some editors write before it. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Reads the bytes of a file that a flag names; `-` is stdin. @throws Error of the file system */
export const readInputFile = (path: string): Buffer => readFileSync(path === '-' ? stdin : path);
