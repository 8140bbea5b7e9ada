import fc, { type Arbitrary } from 'fast-check';
import { anyText } from '../harness/any-text.ts';

/** The JSON Schema keywords that occur in request schemas of docs/openapi.json. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
}

/** Generates the values of unknown members. */
type Unknown = Arbitrary<unknown>;

/** Text of any characters but U+0000, which the document excludes for all endpoints. */
const anyUnicode = (length: { minLength: number; maxLength: number }) =>
  anyText(length).map((text) => text.replaceAll('\0', 'x'));

/** Lengths count characters, so a character outside the basic plane counts once. */
function textOfLength(minLength: number, maxLength: number): Arbitrary<string> {
  const longest = { minLength: maxLength, maxLength, size: 'max' } as const;
  return fc.oneof(
    { weight: 4, arbitrary: anyUnicode({ minLength, maxLength }) },
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength, maxLength }) },
    { weight: 1, arbitrary: anyUnicode(longest) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', ...longest }) },
  );
}

function textArbitrary({ pattern, minLength = 0, maxLength = 512 }: Schema): Arbitrary<string> {
  if (pattern === undefined) return textOfLength(minLength, maxLength);
  const form = new RegExp(pattern, 'u');
  const lengthOf = (text: string) => [...text].length;
  const fits = (text: string) =>
    form.test(text) && lengthOf(text) >= minLength && lengthOf(text) <= maxLength;
  // Patterns with Unicode property classes cannot be generated.
  const source = pattern.includes('\\P') ? textOfLength(minLength, maxLength) : fc.stringMatching(form);
  return source.filter(fits);
}

/**
 * Generates values that a schema accepts, with every allowed length and with unknown members.
 * @throws for an unsupported keyword
 */
export function valuesOf(
  schema: Schema,
  schemas: Record<string, Schema>,
  unknown: Unknown,
): Arbitrary<unknown> {
  const { $ref: reference, description: _text, ...rest } = schema;
  if (reference) {
    const found = schemas[reference.split('/').at(-1) ?? ''];
    if (!found) throw new Error(`no schema ${reference}`);
    return valuesOf(found, schemas, unknown);
  }
  if (rest.anyOf) return fc.oneof(...rest.anyOf.map((one) => valuesOf(one, schemas, unknown)));
  if (rest.const !== undefined) return fc.constant(rest.const);
  if (rest.enum) return fc.constantFrom(...rest.enum);
  if (rest.type === 'string') return textArbitrary(rest);
  if (rest.type === 'array' && rest.items) {
    const { minItems: minLength = 0, maxItems: maxLength = 40 } = rest;
    return fc.array(valuesOf(rest.items, schemas, unknown), { minLength, maxLength });
  }
  if (rest.type === 'integer') return fc.integer({ min: rest.minimum ?? 0, max: rest.maximum ?? 1_000_000 });
  if (rest.type !== 'object' || !rest.properties)
    throw new Error(`no values are known for ${JSON.stringify(schema)}`);
  const members = Object.entries(rest.properties).map(([name, one]) => [
    name,
    valuesOf(one, schemas, unknown),
  ]);
  const known = fc.record(Object.fromEntries(members) as Record<string, Arbitrary<unknown>>, {
    requiredKeys: rest.required ?? [],
  });
  const others = fc.dictionary(fc.stringMatching(/^x_\w{0,20}$/), unknown, { maxKeys: 3 });
  return fc.tuple(others, known).map(([more, own]) => ({ ...more, ...own }));
}
