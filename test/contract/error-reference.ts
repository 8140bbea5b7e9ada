import {
  type Explanation,
  errorExplanations,
  generalExplanations,
} from '../../contracts/error-explanations.ts';
import { type ErrorCode, errorTable, generalText } from '../../contracts/errors.ts';
import { operations } from '../../contracts/openapi/operations.ts';
import { type RedirectError, reasons } from '../../contracts/reasons.ts';
import { proseLines } from './prose.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

/** Responses of any path, and of the hosted pages. */
const anywhere: readonly ErrorCode[] = [
  'bad_input',
  'malformed_http',
  'request_timeout',
  'headers_too_large',
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

/** The section of one error: its code as a heading, a line of facts, its cause and its remedy. */
function item(code: string, facts: readonly string[], { cause, fix }: Explanation): string {
  const lines = [`Cause: ${cause}`, `Remedy: ${fix}`].map((line) => `- ${proseLines(line, '  ')}`);
  return `### \`${code}\`\n\n${proseLines(`${facts.join(', ')}.`, '')}\n\n${lines.join('\n')}`;
}

const retryOf = (code: ErrorCode): string => (errorTable[code].retryable ? 'retry' : 'no retry');

function oauthList(): string {
  const shown = codes.filter((code) => endpointsOf(code, 'oauth').length > 0);
  return shown
    .map((code) => {
      const endpoints = `answered by ${endpointsOf(code, 'oauth').join(', ')}`;
      const facts = [String(errorTable[code].status), retryOf(code), endpoints];
      return item(code, facts, errorExplanations[code]);
    })
    .join('\n\n');
}

function generalList(): string {
  const shown = codes.filter((code) => endpointsOf(code, 'general').length > 0 || anywhere.includes(code));
  return shown
    .map((code) => {
      const places = anywhere.includes(code) ? 'any path' : endpointsOf(code, 'general').join(', ');
      const endpoints = `answered by ${places}`;
      const text = `\`${generalText(code)}\`:`;
      const facts = [`${text} ${errorTable[code].status}`, retryOf(code), endpoints];
      return item(code, facts, generalExplanations[code] ?? errorExplanations[code]);
    })
    .join('\n\n');
}

function redirectList(): string {
  const errors = [...new Set(Object.values(reasons).map(({ error }) => error))];
  return errors
    .map((error: RedirectError) => {
      const rows = Object.values(reasons).filter((reason) => reason.error === error);
      const succeeds = rows.some(({ retryable }) => retryable) ? 'a new session may succeed' : 'no retry';
      const causes = rows.map(({ text }) => `${text[0]?.toUpperCase()}${text.slice(1)}.`).join(' ');
      return `### \`${error}\`\n\nIn a redirect, ${succeeds}.\n${proseLines(causes, '')}`;
    })
    .join('\n\n');
}

function adminList(): string {
  const isPublic = (code: ErrorCode) =>
    anywhere.includes(code) || endpointsOf(code, 'oauth').length + endpointsOf(code, 'general').length > 0;
  return codes
    .filter((code) => !isPublic(code))
    .map((code) => {
      const { status, exit } = errorTable[code];
      const facts = [String(status), `exit code ${exit}`, retryOf(code)];
      return item(code, facts, errorExplanations[code]);
    })
    .join('\n\n');
}

/** Returns the text of `docs/errors.md`: every row of the error table, with the endpoints that return its error. */
export function renderErrors(): string {
  return `# Errors

Every error with its cause and its remedy.
Retry the errors that are marked *retry*, by the [one rule](limits-and-billing.md#retry).
After a 429 and a 503, wait for the seconds in \`Retry-After\`.
After 500, or no answer, retry after 1 s, then after 2 s: three attempts in all.
Any other error stays the same until something changes.
Every answer has \`X-Request-Id\`: name it when you ask support.
Every error also has \`X-SVC-Error\`: its code, for programs.
Its \`Link\` header with \`rel="help"\` leads to the code on this page.

## OAuth endpoints

The body is \`{"error": "…", "error_description": "…"}\`.
Programs read \`error\`. \`error_description\` is for people and may change.

${oauthList()}

A 401 has \`WWW-Authenticate\`: \`Bearer\` at userinfo, \`Basic\` if Basic credentials were sent.
The description names a credential that is of the wrong kind, by its prefix.

## Everything else

The body is \`{"success": false, "error": "…"}\`. Programs read the HTTP status.
The messages of the session query are those of the contract, letter by letter.
There \`WWW-Authenticate\` says more about a 401, for instance that an access token was sent in the place of an API key.
The other messages may be more precise than shown here.
\`svcadmin error CODE\` explains a code to support.

${generalList()}

## Redirects back to the partner

The query of \`redirect_uri\` has \`error\`, \`error_description\`, \`state\`, \`iss\` and \`session_id\`.
\`invalid_request\` is never in a redirect: it is the 400 of \`/verify/start\`.

${redirectList()}

## Admin API and \`svcadmin\`

${adminList()}
`;
}
