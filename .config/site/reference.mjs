// The reference is rendered here, at build, and not by a viewer in the browser. Measured with this document: 14 kB compressed with
// style and script, complete without JavaScript. Redoc 2.5 loads 278 kB, Scalar 1.72 1,255 kB; both are empty without it. Redoc has
// 205 faults by axe, this page none.
import { codeBlock, escapeText, renderMarkdown } from './markdown.mjs';

const verbs = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * The API reference as Markdown and HTML, from the OpenAPI document.
 * @param document as in docs/openapi.json
 * @param errorsAt address of the page of errors
 */
export function renderReference(document, errorsAt) {
  const headings = [{ depth: 1, text: 'API reference', anchor: 'api-reference' }];
  const sections = [document.info.description];
  const inline = (text) =>
    renderMarkdown(text, () => undefined)
      .html.trim()
      .replace(/^<p>([\s\S]*)<\/p>$/, '$1');

  function resolved(value) {
    if (!value?.$ref) return value ?? {};
    return resolved(
      value.$ref
        .slice(2)
        .split('/')
        .reduce((at, part) => at[part], document),
    );
  }

  function heading(depth, text, anchor, html = escapeText(text)) {
    headings.push({ depth, text, anchor });
    sections.push('');
    return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${html}</a></h${depth}>`;
  }

  function note(text) {
    sections[sections.length - 1] += ` ${text}`;
    return `<p>${inline(text)}</p>`;
  }

  function typeOf(schema) {
    const one = resolved(schema);
    if (one.const !== undefined) return `<code>${escapeText(JSON.stringify(one.const))}</code>`;
    if (one.enum) return one.enum.map((value) => `<code>${escapeText(String(value))}</code>`).join(', ');
    if (one.anyOf) return [...new Set(one.anyOf.map(typeOf))].join(' or ');
    if (one.type === 'array') return `list of ${resolved(one.items).anyOf ? 'objects' : typeOf(one.items)}`;
    const name = [one.type ?? 'object'].flat().join(' or ');
    return escapeText(one.format ? `${name}, ${one.format}` : name);
  }

  function limitsOf(schema) {
    const one = resolved(schema);
    const limits = [
      one.minLength > 1 && `at least ${one.minLength} characters`,
      one.maxLength && `at most ${one.maxLength} characters`,
      one.minimum !== undefined && `at least ${one.minimum}`,
      one.maximum !== undefined && one.maximum < Number.MAX_SAFE_INTEGER && `at most ${one.maximum}`,
      one.default !== undefined && `${one.default} unless given`,
      // Patterns of dates and of long alternatives say less than the format beside them.
      one.pattern && !one.format && one.pattern.length < 60 && `\`${one.pattern}\``,
    ];
    return limits.filter(Boolean).join('; ');
  }

  /** Fields of several objects: those of one name are one, which only some of the objects may have. */
  function mergedFields(choices, prefix) {
    const lists = choices.map((choice) => fieldsOf(choice, prefix));
    const names = [...new Set(lists.flat().map(({ name }) => name))];
    return names.map((name) => {
      const found = lists.flatMap((list) => list.filter((field) => field.name === name));
      const required = found.length === choices.length && found.every((field) => field.required);
      const [{ description }] = found;
      return { name, required, description, schema: { anyOf: found.map((field) => field.schema) } };
    });
  }

  /** Every field of an object, those of objects within it by their path. */
  function fieldsOf(schema, prefix = '') {
    const one = resolved(schema);
    if (one.anyOf) return mergedFields(one.anyOf, prefix);
    return Object.entries(one.properties ?? {}).flatMap(([name, field]) => {
      const path = `${prefix}${name}`;
      const required = (one.required ?? []).includes(name);
      const within = resolved(field);
      const below = within.type === 'array' ? fieldsOf(within.items, `${path}[].`) : fieldsOf(field, `${path}.`);
      return [{ name: path, required, schema: field, description: within.description }, ...below];
    });
  }

  const table = (head, rows) =>
    `<div class="table" tabindex="0"><table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows
      .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
      .join('\n')}</tbody></table></div>`;

  function fieldTable(fields, word) {
    if (fields.length === 0) return '';
    return table(
      [word, 'Type', 'Meaning'],
      fields.map(({ name, required, schema, description }) => {
        sections[sections.length - 1] += ` ${name} ${description ?? ''}`;
        const words = [description, limitsOf(schema)].filter(Boolean).map(inline).join('. ');
        return [
          `<code>${escapeText(name)}</code>${required ? '' : ' <small>optional</small>'}`,
          typeOf(schema),
          words || '–',
        ];
      }),
    );
  }

  const parameters = (list, place, word) => fieldTable((list ?? []).filter((one) => one.in === place), word);

  /** Alternatives of a body, each with its fields. */
  function bodyTables(schema) {
    const one = resolved(schema);
    const choices = (one.anyOf ?? [schema]).filter((choice) => resolved(choice).properties);
    return choices
      .map((choice, at) => (at === 0 ? '' : '<p>Or:</p>') + fieldTable(fieldsOf(choice), 'Field'))
      .join('');
  }

  function examplesOf(content = {}) {
    const { example, examples } = content;
    if (example !== undefined) return [example];
    return Object.values(examples ?? {}).map(({ value }) => value);
  }

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

  /** The call as a command, with the first example of the document. */
  function command(verb, path, operation) {
    const query = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.required);
    const parameter = ({ name, schema }) => `${name}=${schema.enum?.[0] ?? '…'}`;
    // A page for browsers: no program calls it.
    if (operation.responses[302]) return `$SVC_BASE_URL${path}\n  ?${query.map(parameter).join('\n  &')}`;
    const address = `$SVC_BASE_URL${path.replaceAll(/\{(\w+)\}/g, (_all, name) => `$${name.toUpperCase()}`)}`;
    const lines = [`curl${verb === 'get' ? '' : ` -X ${verb.toUpperCase()}`} "${address}"`];
    if (query.length > 0) lines[0] = `curl --get "${address}"`;
    for (const one of query) lines.push(`--data-urlencode "${parameter(one)}"`);
    const schemes = (operation.security ?? []).flatMap(Object.keys);
    if (schemes.includes('apiKey')) lines.push('-H "Authorization: Bearer $SVC_API_KEY"');
    if (schemes.includes('accessToken')) lines.push('-H "Authorization: Bearer $ACCESS_TOKEN"');
    for (const { name, required } of (operation.parameters ?? []).filter((one) => one.in === 'header'))
      if (required && !/^authorization$/i.test(name)) lines.push(`-H "${name}: …"`);
    const content = operation.requestBody?.content ?? {};
    const form = content['application/x-www-form-urlencoded'];
    const [body] = examplesOf(form ?? content['application/json']);
    if (form && body)
      for (const [name, value] of Object.entries(body)) lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`);
    else if (body) {
      lines.push('-H "Content-Type: application/json"');
      lines.push(`-d ${quoted(JSON.stringify(body))}`);
    }
    return lines.join(' \\\n  ');
  }

  function success(responses) {
    return Object.entries(responses)
      .filter(([status]) => /^[23]/.test(status))
      .map(([status, response]) => {
        const content = response.content?.['application/json'];
        const [example] = examplesOf(content);
        return `<h4>${status}</h4>${note(response.description)}${
          content ? bodyTables(content.schema) : ''
        }${example === undefined ? '' : codeBlock(JSON.stringify(example, null, 2), 'json')}`;
      })
      .join('');
  }

  function failures(responses) {
    const rows = Object.entries(responses)
      .filter(([status]) => /^[45]/.test(status))
      .map(([status, { description }]) => [
        status,
        inline(description).replaceAll(
          /<code>([a-z_]+)<\/code>/g,
          (code, name) => `<a href="${errorsAt}#${name}">${code}</a>`,
        ),
      ]);
    return rows.length === 0 ? '' : `<h4>Errors</h4>${table(['Status', 'Codes'], rows)}`;
  }

  function authentication(security = []) {
    const schemes = security.flatMap(Object.keys).map((name) => document.components.securitySchemes[name]);
    if (schemes.length === 0) return '';
    return `<p>Credentials: ${schemes.map(({ description }) => inline(description)).join('; or ')}.</p>`;
  }

  function endpoint(verb, path, operation) {
    const title = `${verb.toUpperCase()} ${path}`;
    const html = `<span class="verb ${verb}">${verb.toUpperCase()}</span> <code>${escapeText(path)}</code>`;
    const body = Object.values(operation.requestBody?.content ?? {})[0];
    const types = Object.keys(operation.requestBody?.content ?? {}).map((type) => `<code>${type}</code>`);
    return [
      heading(3, title, operation.operationId, html),
      `<p class="summary">${inline(operation.summary)}</p>`,
      note(operation.description),
      authentication(operation.security),
      codeBlock(command(verb, path, operation), 'sh'),
      parameters(operation.parameters, 'path', 'Path'),
      parameters(operation.parameters, 'query', 'Query'),
      parameters(operation.parameters, 'header', 'Header'),
      body ? `<h4>Body</h4><p>${types.join(' or ')}</p>${bodyTables(body.schema)}` : '',
      success(operation.responses),
      failures(operation.responses),
    ].join('\n');
  }

  function webhook(name, { post }) {
    const { schema, ...content } = post.requestBody.content['application/json'];
    const [example] = examplesOf(content);
    return [
      heading(3, name, post.operationId, `<code>${escapeText(name)}</code>`),
      `<p class="summary">${inline(post.summary)}</p>`,
      bodyTables(schema),
      example === undefined ? '' : codeBlock(JSON.stringify(example, null, 2), 'json'),
    ].join('\n');
  }

  const parts = [];
  for (const { name, description } of document.tags) {
    const found = Object.entries(document.paths).flatMap(([path, operations]) =>
      verbs.filter((verb) => operations[verb]?.tags.includes(name)).map((verb) => [verb, path, operations[verb]]),
    );
    const events = Object.entries(document.webhooks ?? {}).filter(([, { post }]) => post.tags.includes(name));
    if (found.length + events.length === 0) continue;
    parts.push(heading(2, name, name.toLowerCase().replaceAll(' ', '-')), note(description));
    for (const [verb, path, operation] of found) parts.push(endpoint(verb, path, operation));
    if (events.length > 0) {
      const [, { post }] = events[0];
      parts.push(note(post.description), parameters(post.parameters, 'header', 'Header'));
      for (const [event, item] of events) parts.push(webhook(event, item));
    }
  }
  const html = `<h1 id="api-reference">API reference</h1>
<p>${inline(document.info.description)}</p>
<p>The same as an <a href="openapi.json">OpenAPI document</a>, for generators and tools.</p>
${parts.join('\n')}`;
  return { title: 'API reference', html, headings, sections };
}
