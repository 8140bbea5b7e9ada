import type { z } from 'zod';

/** A string, number or list in an input, with a value that is over its bound, and for a number one that is under it. `fault` says why it has no bound. */
export interface Leaf {
  path: readonly string[];
  over?: unknown;
  under?: unknown;
  fault?: string;
}

interface Definition {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  catchall?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
  items?: readonly z.core.$ZodType[];
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
}

interface Check {
  check?: string;
  maximum?: number;
  length?: number;
  value?: number;
  inclusive?: boolean;
  pattern?: RegExp;
}

/** The checks of a schema. A format, such as that of a date, is a check of its own. */
const checksOf = ({ _zod: { def } }: z.core.$ZodType): Check[] => [
  def as Check,
  ...((def as { checks?: { _zod: { def: Check } }[] }).checks ?? []).map(({ _zod }) => _zod.def),
];

/** The most characters of a text, or items of a list. */
const longest = (checks: readonly Check[]): number | undefined =>
  checks.map(({ maximum, length }) => maximum ?? length).find((value) => value !== undefined);

/** Values that have few characters by themselves. */
const small = new Set(['boolean', 'enum', 'literal', 'null', 'undefined', 'never', 'void']);
const wrappers = new Set(['optional', 'nullable', 'default', 'prefault', 'catch', 'nonoptional', 'readonly']);

/** Whether all texts that a pattern accepts are shorter than some length. */
function isBounded({ source }: RegExp): boolean {
  const withoutClasses = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  return /^\^.*\$$/.test(withoutClasses) && !/[*+]|\{\d+,\}/.test(withoutClasses);
}

function stringLeaf(checks: readonly Check[]): Omit<Leaf, 'path'> {
  const most = longest(checks);
  if (most !== undefined) return { over: 'x'.repeat(most + 1) };
  const isShort = checks.some(({ pattern }) => pattern && isBounded(pattern));
  return isShort ? { over: 'x'.repeat(5_000) } : { fault: 'string' };
}

function numberLeaf(checks: readonly Check[]): Omit<Leaf, 'path'> {
  const limits = new Map(checks.map(({ check, value }) => [check, value]));
  const highest = limits.get('less_than');
  const lowest = limits.get('greater_than');
  return highest !== undefined && lowest !== undefined
    ? { over: highest + 1, under: lowest - 1 }
    : { fault: 'number' };
}

/** The bounded values of an input's schema, and the values without a bound. */
export function leavesOf(schema: z.core.$ZodType, path: readonly string[] = []): Leaf[] {
  const definition = schema._zod.def as unknown as Definition;
  const checks = checksOf(schema);
  const { type, innerType, in: input, out: output, element } = definition;
  if (small.has(type)) return [];
  if (type === 'string') return [{ path, ...stringLeaf(checks) }];
  if (type === 'number') return [{ path, ...numberLeaf(checks) }];
  if (innerType && wrappers.has(type)) return leavesOf(innerType, path);
  // `z.preprocess` is a pipe that begins with a transform. The schema behind it has the bounds.
  const isPreprocessed = input?._zod.def.type === 'transform';
  if (type === 'pipe' && input) return leavesOf(isPreprocessed && output ? output : input, path);
  if (type === 'union') return (definition.options ?? []).flatMap((option) => leavesOf(option, path));
  if (type === 'tuple')
    return (definition.items ?? []).flatMap((item, n) => leavesOf(item, [...path, String(n)]));
  if (type === 'object') {
    const { shape = {}, catchall } = definition;
    const isOpen = catchall !== undefined && catchall._zod.def.type !== 'never';
    const members = Object.entries(shape).flatMap(([name, member]) => leavesOf(member, [...path, name]));
    return [...members, ...(isOpen ? [{ path, fault: 'object with any members' }] : [])];
  }
  if (type === 'array' && element) {
    const most = longest(checks);
    const list = most === undefined ? { path, fault: 'list' } : { path, over: Array(most + 1).fill(null) };
    return [list, ...leavesOf(element, [...path, '0'])];
  }
  return [{ path, fault: type }];
}

/** Returns an input that has only this value, at the path of a leaf. */
export const inputWith = ({ path, over }: Leaf): unknown =>
  path.reduceRight((inner, name) => (name === '0' ? [inner] : { [name]: inner }), over);
