import type { z } from 'zod';

interface Definition {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  options?: readonly z.core.$ZodType[];
  items?: readonly z.core.$ZodType[];
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  entries?: Record<string, unknown>;
  values?: readonly unknown[];
  checks?: { _zod: { def: { maximum?: number; value?: number; check?: string; length?: number } } }[];
}

/** The values of fields that name a record, and of those with a format, by the name of the field. */
export type KnownValues = Readonly<Record<string, unknown>>;

const samples = [
  ...['2020-01-01T00:00:00.000Z', 'https://shop.example/path', 'http://localhost:9/hooks'],
  ...['a@shop.example', 'shop.example', 'age_18_plus', '#0a7f5c', 'UTC', 'x'],
];
const isAccepted = (schema: z.core.$ZodType, value: unknown) =>
  (schema as z.ZodType).safeParse(value).success;

function largestText(schema: z.core.$ZodType, { checks = [] }: Definition): string | undefined {
  const most = checks
    .map(({ _zod: { def } }) => def.maximum ?? def.length)
    .find((value) => value !== undefined);
  const fillers = ['x', '1', 'a '].map((unit) => unit.repeat(most ?? 100).slice(0, most));
  return [...fillers, ...samples].find((text) => isAccepted(schema, text));
}

function largestNumber({ checks = [] }: Definition): number {
  const limits = checks.map(({ _zod: { def } }) => def).filter(({ check }) => check === 'less_than');
  return limits[0]?.value ?? 1;
}

function largestList(element: z.core.$ZodType, { checks = [] }: Definition, known: KnownValues): unknown[] {
  const most = checks.map(({ _zod: { def } }) => def.maximum).find((value) => value !== undefined) ?? 1;
  const one = largestInput(element, known);
  return Array.from({ length: most }, (_, n) =>
    typeof one === 'string' && isAccepted(element, `${one.slice(0, -4)}${String(n).padStart(4, '0')}`)
      ? `${one.slice(0, -4)}${String(n).padStart(4, '0')}`
      : one,
  );
}

function largestObject(shape: Record<string, z.core.$ZodType>, known: KnownValues): Record<string, unknown> {
  const members = Object.entries(shape).map(([name, schema]): [string, unknown] => {
    const isKnown = name in known && isAccepted(schema, known[name]);
    return [name, isKnown ? known[name] : largestInput(schema, known)];
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Returns a value with each text, list and number of a schema at its bound, as far as its formats allow. */
export function largestInput(schema: z.core.$ZodType, known: KnownValues): unknown {
  const definition = schema._zod.def as unknown as Definition;
  const { type, shape, options, items, element, innerType, in: input } = definition;
  if (type === 'object' && shape) return largestObject(shape, known);
  if (type === 'array' && element) return largestList(element, definition, known);
  if (type === 'tuple') return (items ?? []).map((item) => largestInput(item, known));
  if (type === 'union')
    return options?.map((option) => largestInput(option, known)).find((value) => value !== undefined);
  if (type === 'enum') return Object.values(definition.entries ?? {})[0];
  if (type === 'literal') return definition.values?.[0];
  if (type === 'boolean') return true;
  if (type === 'number') return largestNumber(definition);
  if (type === 'string') return largestText(schema, definition);
  const inner = innerType ?? input;
  return inner ? largestInput(inner, known) : undefined;
}

/** Removes the fields that a schema refuses together, such as two settings that exclude each other. */
export function acceptedInput(schema: z.ZodType, known: KnownValues): unknown {
  let value = largestInput(schema, known) as Record<string, unknown> | undefined;
  for (let round = 0; round < 20; round += 1) {
    const { error } = schema.safeParse(value);
    const [fault] = error?.issues ?? [];
    const name = String(fault?.path[0] ?? Object.keys(value ?? {}).at(-1));
    if (!fault || !value) return value;
    const { [name]: _refused, ...rest } = value;
    value = rest;
  }
  return value;
}
