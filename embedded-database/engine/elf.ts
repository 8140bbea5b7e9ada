/**
 * The engine's two ELF files are linked against glibc 2.38. What they take from it also exists, unversioned or
 * under its older name, in the glibc before it; only the version stamps keep the loader from binding to that.
 * Offsets are those of the ELF-64 object file format and of the LSB's symbol versioning.
 */

const sectionType = { dynamicSymbols: 11, versionsNeeded: 0x6ffffffe, symbolVersions: 0x6fffffff };
const machines = new Set([62 /* x86-64 */, 183 /* AArch64 */]);
const unversioned = 1;
const versionIndexMask = 0x7fff;
const weakVersion = 2;
/** C23 variants that glibc 2.38 added: the name of the C function they stand for is their suffix. */
const c23Prefix = '__isoc23_';

type Section = { type: number; offset: number; size: number; link: number; entrySize: number };
type Needed = { index: number; flagsAt: number; name: string };

const readSections = (file: Buffer): Section[] => {
  const start = Number(file.readBigUInt64LE(0x28));
  const entrySize = file.readUInt16LE(0x3a);
  return Array.from({ length: file.readUInt16LE(0x3c) }, (_, position) => {
    const at = start + position * entrySize;
    return {
      type: file.readUInt32LE(at + 4),
      offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)),
      link: file.readUInt32LE(at + 40),
      entrySize: Number(file.readBigUInt64LE(at + 56)),
    };
  });
};

const sectionOf = (sections: Section[], type: number): Section => {
  const found = sections.find((section) => section.type === type);
  if (found === undefined) throw new Error(`ELF file has no section of type 0x${type.toString(16)}`);
  return found;
};

const textAt = (file: Buffer, at: number): string => file.toString('latin1', at, file.indexOf(0, at));

const readNeeded = (file: Buffer, needs: Section, names: number): Needed[] => {
  const needed: Needed[] = [];
  let library = needs.offset;
  for (;;) {
    let at = library + file.readUInt32LE(library + 8);
    for (let left = file.readUInt16LE(library + 2); left > 0; left -= 1) {
      const name = textAt(file, names + file.readUInt32LE(at + 8));
      needed.push({ index: file.readUInt16LE(at + 6), flagsAt: at + 4, name });
      at += file.readUInt32LE(at + 12);
    }
    const next = file.readUInt32LE(library + 12);
    if (next === 0) return needed;
    library += next;
  }
};

const isTooNew = ({ name }: Needed): boolean => {
  const minor = /^GLIBC_2\.(\d+)$/.exec(name)?.[1];
  return minor !== undefined && Number(minor) >= 37;
};

/**
 * Rewrites a 64-bit little-endian ELF library (x86-64 or AArch64) so that it loads on a glibc older than 2.38.
 *
 * @param original the library's bytes; left as they are
 * @returns the rewritten copy, of the same length
 * @throws Error when the bytes are no such library
 */
export const rewriteForOlderGlibc = (original: Buffer): Buffer => {
  const isElf64 = original.length > 64 && original.readUInt32BE(0) === 0x7f454c46 && original[4] === 2;
  if (!isElf64 || original[5] !== 1 || !machines.has(original.readUInt16LE(0x12))) {
    throw new Error('not an ELF library for x86-64 or AArch64');
  }
  const file = Buffer.from(original);
  const sections = readSections(file);
  const symbols = sectionOf(sections, sectionType.dynamicSymbols);
  const versions = sectionOf(sections, sectionType.symbolVersions);
  const names = sections[symbols.link]?.offset ?? 0;
  const tooNew = readNeeded(file, sectionOf(sections, sectionType.versionsNeeded), names).filter(isTooNew);
  const tooNewIndexes = new Set(tooNew.map(({ index }) => index));

  for (const { flagsAt } of tooNew) file.writeUInt16LE(weakVersion, flagsAt);
  for (let position = 0; position * symbols.entrySize < symbols.size; position += 1) {
    const versionAt = versions.offset + position * 2;
    if (!tooNewIndexes.has(file.readUInt16LE(versionAt) & versionIndexMask)) continue;
    file.writeUInt16LE(unversioned, versionAt);
    const symbolAt = symbols.offset + position * symbols.entrySize;
    const nameOffset = file.readUInt32LE(symbolAt);
    if (textAt(file, names + nameOffset).startsWith(c23Prefix)) {
      file.writeUInt32LE(nameOffset + c23Prefix.length, symbolAt);
    }
  }
  return file;
};
