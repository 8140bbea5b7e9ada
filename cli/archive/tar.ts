import { gzipSync } from 'node:zlib';

/** Files of an archive have blocks of this size, and two empty ones end it (POSIX ustar). */
const blockBytes = 512;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

/** Returns the header of a file. @param mtime in seconds since 1970 */
function headerOf(name: string, size: number, mtime: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100);
  header.write(octal(0o600, 7), 100);
  // The owner and the group.
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(mtime, 11), 136);
  // The checksum is computed with spaces in its own place.
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return header;
}

/** Makes a compressed archive (`.tar.gz`) of files. @param files the content by name, of at most 100 bytes */
export function packFiles(files: Readonly<Record<string, string>>, at: Date): Buffer {
  const mtime = Math.floor(at.getTime() / 1000);
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [headerOf(name, content.length, mtime), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]));
}
