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

/** The body of a 200 with the members that every call needs. The body of a 200 to `revoke` is empty. */
export const wholeBody = '{"access_token":"t","sub":"x","claims":{},"session":{},"verified":true}';

/** By call: bodies of a 200, such as of a proxy, in which a member that callers rely on is missing or has another type. */
export const incompleteBodies: Readonly<Record<string, readonly string[]>> = {
  code: ['{}', '{"status":"ok"}', '{"access_token":5}', '{"access_token":null}'],
  userinfo: ['{}', '{"sub":"x"}', '{"claims":{}}', '{"sub":5,"claims":{}}', '{"sub":"x","claims":"x"}'],
  session: ['{}', '{"session":null}', '{"session":"x"}', '{"session":5}'],
  shop: ['{}', '{"claims":{}}', '{"verified":"yes","claims":{}}', '{"verified":true,"claims":null}'],
  revoke: ['<html>', '{}', wholeBody],
};

export const inputs = {
  settings,
  surroundings,
  unsendable,
  wrongBaseUrls,
  malformedBodies,
  wholeBody,
  incompleteBodies,
};
