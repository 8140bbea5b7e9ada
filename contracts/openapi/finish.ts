import { type Document, describeOperation } from './document.ts';
import { operations } from './operations.ts';

const prefix = '#/components/schemas/';

function referencesIn(value: unknown): string[] {
  const text = JSON.stringify(value);
  return [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);
}

/** Returns the names of all schemas that the document refers to, directly or through other schemas. */
function usedSchemas(document: Document, schemas: Record<string, unknown>): Set<string> {
  const used = new Set<string>();
  const waiting = referencesIn({ ...document, components: undefined });
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue;
    used.add(name);
    waiting.push(...referencesIn(schemas[name] ?? {}));
  }
  return used;
}

/** Maps generated names such as `XInput` of requests to `X`, unless a response has the name `X`. */
function plainNames(used: ReadonlySet<string>): Map<string, string> {
  const names = [...used].map((name): [string, string] => {
    const plain = name.replace(/Input$/, '');
    return [name, used.has(plain) ? name : plain];
  });
  return new Map(names);
}

/** Describes the endpoints of the table. @throws if an endpoint has no route, or a route of the API has no row */
function describePaths(generated: Document): NonNullable<Document['paths']> {
  const paths: NonNullable<Document['paths']> = {};
  for (const [endpoint, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = endpoint.split(' ');
    const verb = method.toLowerCase();
    const route = generated.paths?.[path]?.[verb];
    if (!route) throw new Error(`${endpoint} is described, but no such route is registered`);
    paths[path] = { ...paths[path], [verb]: describeOperation(operation, route) };
  }
  const routes = Object.keys(generated.paths ?? {}).filter((path) => path.startsWith('/api/'));
  const missing = routes.filter((path) => !paths[path]);
  if (missing.length > 0) throw new Error(`not described: ${missing.join(', ')}`);
  return paths;
}

/**
 * Returns the published document. It has the endpoints of the table with their texts, and the schemas that they use. All are
 * sorted, so that every run gives the same bytes.
 */
export function finishDocument(generated: Document): Document {
  const schemas = generated.components?.schemas ?? {};
  const document: Document = { ...generated, paths: describePaths(generated) };
  const names = plainNames(usedSchemas(document, schemas));
  const kept = [...names]
    .map(([name, plain]): [string, unknown] => [plain, schemas[name]])
    .sort(([a], [b]) => a.localeCompare(b));
  const finished = {
    ...document,
    components: { ...generated.components, schemas: Object.fromEntries(kept) },
  };
  return renameReferences(finished, names);
}

/** Replaces the names of schemas in all references. */
function renameReferences(document: Document, names: ReadonlyMap<string, string>): Document {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(prefix)) return value;
    const name = value.slice(prefix.length);
    return prefix + (names.get(name) ?? name);
  });
}
