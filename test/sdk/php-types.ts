import {
  eventTypes,
  generatedBy,
  reasonRows,
  referenceOf,
  type Schema,
  schemaOf,
  shown,
} from './contract-types.ts';

const primitives: Record<string, string> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'null',
};
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
const union = (types: readonly string[]): string => [...new Set(types)].join('|');

function typeOf(schema: Schema): string {
  if (schema.$ref) return referenceOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return union(schema.enum.map(literal));
  if (schema.anyOf) return union(schema.anyOf.map(typeOf));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => primitives[type] ?? 'mixed'));
  if (schema.type === 'array') return `list<${typeOf(schema.items ?? {})}>`;
  if (schema.type !== 'object') return primitives[schema.type ?? ''] ?? 'mixed';
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
  );
  return `array{${fields.join(', ')}${typeof schema.additionalProperties === 'object' ? ', ...' : ''}}`;
}

/** Returns the text of `sdk/php/src/Contract.php`. */
export function renderPhp(): string {
  const types = shown.map((name) => ` * @phpstan-type ${name} ${typeOf(schemaOf(name))}`).join('\n');
  return `<?php

// ${generatedBy}

declare(strict_types=1);

namespace Svc\\Gateway;

/**
 * Types of requests, answers and events. Tell events apart by \`event\`; a later version may send others: ignore those.
 *
${types}
 * @phpstan-type WebhookEvent ${union(eventTypes)}
 */
final class Contract
{
    /** Whether a new session may succeed, by the reason of a redirect. */
    public const REASON_IS_RETRYABLE = [
${reasonRows.map(([reason, retryable]) => `        '${reason}' => ${retryable},`).join('\n')}
    ];
}
`;
}
