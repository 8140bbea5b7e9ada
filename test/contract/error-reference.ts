import { errorExplanations, generalExplanations } from '../../contracts/error-explanations.ts';
import { type ErrorCode, errorTable, generalText } from '../../contracts/errors.ts';
import { operations } from '../../contracts/openapi/operations.ts';
import { type RedirectError, reasons } from '../../contracts/reasons.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

/** What any path may answer, and what the hosted pages do. */
const anywhere: readonly ErrorCode[] = [
  'bad_input',
  'route_not_found',
  'method_not_allowed',
  'unauthorized',
  'cross_site_request',
];

function endpointsOf(code: ErrorCode, format: 'oauth' | 'general'): string[] {
  return Object.entries(operations)
    .filter(
      ([, { errors, errorFormat }]) => errorFormat === format && errors.some((one) => one.code === code),
    )
    .map(([endpoint]) => `\`${endpoint.split('/').at(-1) ?? ''}\``);
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (headings: readonly string[], rows: readonly string[][]): string =>
  [row(headings), row(headings.map(() => '---')), ...rows.map(row)].join('\n');

function describe(code: ErrorCode, { cause, fix } = errorExplanations[code]): string[] {
  const { status, retryable } = errorTable[code];
  return [String(status), cause, fix, retryable ? 'yes' : 'no'];
}

function oauthTable(): string {
  const shown = codes.filter((code) => endpointsOf(code, 'oauth').length > 0);
  return table(
    ['`error`', 'HTTP', 'cause', 'what to do', 'retry', 'answered by'],
    shown.map((code) => [`\`${code}\``, ...describe(code), endpointsOf(code, 'oauth').join(', ')]),
  );
}

function generalTable(): string {
  const shown = codes.filter((code) => endpointsOf(code, 'general').length > 0 || anywhere.includes(code));
  return table(
    ['code', '`error`', 'HTTP', 'cause', 'what to do', 'retry', 'answered by'],
    shown.map((code) => {
      const endpoints = endpointsOf(code, 'general');
      const described = describe(code, generalExplanations[code]);
      return [`\`${code}\``, generalText(code), ...described, endpoints.join(', ') || 'any path'];
    }),
  );
}

function redirectTable(): string {
  const errors = [...new Set(Object.values(reasons).map(({ error }) => error))];
  return table(
    ['`error`', 'causes', 'new session may succeed'],
    errors.map((error: RedirectError) => {
      const rows = Object.values(reasons).filter((reason) => reason.error === error);
      return [
        `\`${error}\``,
        rows.map(({ text }) => text).join('; '),
        rows.some(({ retryable }) => retryable) ? 'yes' : 'no',
      ];
    }),
  );
}

function adminTable(): string {
  const isPublic = (code: ErrorCode) =>
    anywhere.includes(code) || endpointsOf(code, 'oauth').length + endpointsOf(code, 'general').length > 0;
  return table(
    ['code', 'HTTP', 'cause', 'what to do', 'retry', 'exit code'],
    codes
      .filter((code) => !isPublic(code))
      .map((code) => [`\`${code}\``, ...describe(code), String(errorTable[code].exit)]),
  );
}

/** `docs/errors.md`: every row of the table of errors, with the endpoints that answer it. */
export function renderErrors(): string {
  return `# Errors

Generated from the table of errors: \`UPDATE_DOCS=1 npx vitest run --config .config/vitest.config.ts test/contract/documents.test.ts\`.

Retry where the last column says so, by the [one rule](limits-and-billing.md#retry): a 429 and a 503 after the seconds in \`Retry-After\`; a 500, or no
answer, after 1 s, then after 2 s, three attempts in all. Everything else answers the same again until something changes. Every answer
carries \`X-Request-Id\`: give it to support.

## OAuth endpoints

\`{"error": "…", "error_description": "…"}\`. Programs read \`error\`; \`error_description\` is for people and may change.

${oauthTable()}

A 401 carries \`WWW-Authenticate\`: \`Bearer\` at userinfo, \`Basic\` where Basic credentials were sent.

## Everything else

\`{"success": false, "error": "…"}\`. Programs read the HTTP status. The messages of the session query are those of the contract, letter
by letter; the other texts may be more precise than shown here. The code is ours: \`svcadmin error CODE\` explains it to support.

${generalTable()}

## Redirects back to the partner

\`error\`, \`error_description\`, \`state\` and \`iss\` in the query of \`redirect_uri\`. \`invalid_request\` never travels in a redirect: it is the 400 of \`/verify/start\`.

${redirectTable()}

## Admin API and \`svcadmin\`

${adminTable()}
`;
}
