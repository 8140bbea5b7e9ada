/** Inputs that every client library treats alike: the tests of each language read these tables. */

/** The settings that are text, each with a value that is well-formed. */
export const settings = {
  baseUrl: 'https://svc.example',
  clientId: 'client_1',
  clientSecret: 'svc_cs_secret',
  redirectUri: 'https://shop.example/callback',
  apiKey: 'svc_test_secret',
  webhookSecret: 'whsec_secret',
  integrationId: 'integration_1',
  integrationSecret: 'intsec_secret',
};

/** White space around a setting, as files and shells leave it. */
export const surroundings = ['\n', '\r\n', ' ', '\t', '\r', '\u000b\f'];

/** What no header and no address can hold. `_` stands for the rest of the value. */
export const unsendable = [
  ...['_\r\nX-Evil: 1', '_\nx', '_\rx', '_\u0000', '\u0000_', '_\u001bx', '_\u007fx', '_é', '_…'],
  ...['\u00a0_', '\ufeff_', '_\u{1f600}'],
];

/** Settings that are no http or https address. */
export const wrongBaseUrls = [
  ...['', ' ', 'svc.example', 'ftp://svc.example', 'https://', 'https://u:p@svc.example'],
  ...['https://svc.example?a', 'https://svc.example#a'],
];

/** Bodies of a 200 that are not the JSON object of the interface. */
export const malformedBodies = [
  '',
  '<html>',
  'null',
  'true',
  '5',
  '"x"',
  '[]',
  '[{}]',
  '{',
  '['.repeat(100_000),
  '{"a":'.repeat(100_000),
];

/** Bodies of a 200 in which the member `session` is no object. */
export const bodiesWithoutSession = ['{}', '{"session":null}', '{"session":"x"}', '{"session":5}'];

export const inputs = {
  settings,
  surroundings,
  unsendable,
  wrongBaseUrls,
  malformedBodies,
  bodiesWithoutSession,
};
