import { personNames } from '../../server/sessions/sources/sandbox.ts';
import {
  eventTypes,
  generatedBy,
  reasonRows,
  referenceOf,
  type Schema,
  schemaOf,
  shown,
} from './contract-types.ts';

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
const primitives: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function objectType(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description ? [`${inner}/** ${schema.description}. */`] : []),
    `${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};`,
  ]);
  if (typeof additionalProperties === 'object')
    lines.push(`${inner}[name: string]: ${typeOf(additionalProperties, inner)} | undefined;`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref) return referenceOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeOf(one, indent)))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => primitives[type]).join(' | ');
  if (schema.type === 'array') return `${typeOf(schema.items ?? {}, indent)}[]`;
  if (schema.type === 'object') return objectType(schema, indent);
  return primitives[schema.type ?? ''] ?? 'unknown';
}

function declaration(name: string): string {
  const schema = schemaOf(name);
  const comment = schema.description ? `/** ${schema.description.replace(/\.$/, '')}. */\n` : '';
  const isUnion = schema.enum !== undefined;
  const text = isUnion
    ? `export type ${name} =${(schema.enum ?? []).map((one) => `\n  | ${literal(one)}`).join('')};`
    : `export interface ${name} ${typeOf(schema)}`;
  return `${comment}${text}\n`;
}

/** Returns the text of `sdk/typescript/src/contract.ts`. */
export function renderTypeScript(): string {
  return `// ${generatedBy}

${shown.map(declaration).join('\n')}
/** Tell them apart by \`event\`. A later version may send others: ignore what you do not know. */
export type WebhookEvent =${eventTypes.map((name) => `\n  | ${name}`).join('')};

/** The people of the sandbox: see docs/testing.md. */
export type Person =${personNames.map((name) => `\n  | '${name}'`).join('')};

/** Whether a new session may succeed, by the reason of a redirect. */
export const reasonIsRetryable: Readonly<Record<string, boolean>> = {
${reasonRows.map(([reason, retryable]) => `  ${reason}: ${retryable},`).join('\n')}
};
`;
}
