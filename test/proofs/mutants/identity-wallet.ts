import { inFile } from './mutation.ts';

const folder = 'server/identity-wallet';
const tests = (...names: string[]) => names.map((name) => `identity-wallet/${name}`);

/** Mutations of European identity wallets: requests, answers, attestations, and fetches of their issuers' lists. */
export const wallet = [
  ...inFile('server/pages/identity-wallet/answers.ts', tests('claim', 'request-token'), [
    ['if (!(await sessions.lockRequest(session, clock.now()))) return undefined;', ''],
    [
      'return verifier.tokenMatches(handle, token) ? { session, verifier, handle } : undefined;',
      'return { session, verifier, handle };',
    ],
    ["stepOf(session, clock.now()) === 'authenticate' &&\n      !isChoosing", '!isChoosing'],
  ]),
  ...inFile('server/pages/identity-wallet/answers.ts', tests('safety', 'response'), [
    ["if (!isRightCode) throw new ApiError('cross_site_request');", ''],
  ]),
  ...inFile('server/sessions/session-store.ts', tests('claim'), [
    ["'carried.wallet.claimedUntil': { $not: { $gt: now } },", ''],
    ['{ $not: { $gt: now } }', '{ $exists: false }'],
    ['timeline: { $size: timeline.length },', ''],
    ['expiresAt: { $gt: new Date(now) },', ''],
  ]),
  ...inFile('server/identity-wallet/protocol/handles.ts', tests('request-token'), [
    ['    device,\n    binding,\n', '    binding,\n'],
    ['    binding,\n    number,\n  ];', '    number,\n  ];'],
    ['sameText(tokenOf(handle), token)', 'tokenOf(handle).length === token.length'],
  ]),
  ...inFile('server/identity-wallet/formats/json.ts', tests('nested', 'unreadable'), [
    ['if (isTooDeep(text)) throw', 'if (text.length < 0) throw'],
    ['if (isEscape) index += 1;', 'if (isEscape) index += 0;'],
  ]),
  ...inFile('server/pages/identity-wallet/routes.ts', tests('response'), [
    ['if (!answered.isRefused) return reply.send(back);', 'return reply.send(back);'],
  ]),
  ...inFile('server/identity-wallet/formats/sd-jwt.ts', tests('person', 'vectors-sd-jwt'), [
    ["demand(exp === undefined || !isOver(exp * 1000, now), 'holder proof wrong', 'expired');", ''],
    ["demand(nbf === undefined || hasBegun(nbf * 1000, now), 'holder proof wrong', 'not yet valid');", ''],
    ["demand(nonce === expected.nonce, 'wrong nonce');", ''],
    ["demand(aud === expected.audience, 'wrong audience');", ''],
  ]),
  ...inFile('server/identity-wallet/protocol/presentation.ts', tests('issuing-country'), [
    ['    checkIssuingCountry(facts, issuer);\n', ''],
    [
      'issuingCountry.toUpperCase() === countryOf(issuer)',
      'issuingCountry !== countryOf(issuer)?.toLowerCase()',
    ],
  ]),
  ...inFile('server/identity-wallet/formats/mdoc.ts', tests('forgery'), [
    ["demand(mso.get('docType') === docType, 'wrong type');", 'void docType;'],
    ["demand(document.get('docType') === expected.docType, 'wrong type');", ''],
    ['signed >= signer.notBefore && signed <= signer.notAfter', 'signed <= signer.notAfter'],
    ['signed >= signer.notBefore && signed <= signer.notAfter', 'signed >= signer.notBefore'],
    ["demand(!elements.has(name), 'malformed', 'element twice');", ''],
    ["demand(!document.has('errors'), 'less than was asked for', 'errors');", ''],
  ]),
  ...inFile('server/identity-wallet/formats/mdoc.ts', tests('status'), [
    ["demand(byIndex ?? byIdentifier, 'status unknown', 'no known mechanism');", ''],
    ["const isStandard = byIdentifier?.get('id') instanceof Uint8Array;", 'const isStandard = false;'],
  ]),
  ...inFile('server/identity-wallet/formats/cbor.ts', tests('forgery'), [
    ['rejectDuplicateMapKeys: true', 'rejectDuplicateMapKeys: false'],
  ]),
  ...inFile('server/identity-wallet/formats/disclosures.ts', tests('forgery'), [
    ["typeof digest === 'string' && !seen.has(digest)", "typeof digest === 'string'"],
  ]),
  ...inFile('server/identity-wallet/trust/status-token.ts', tests('status'), [
    ['iat: z.number(),', 'iat: z.number().default(0),'],
    ["demand(sub === uri, 'status unknown', 'list of another address');", ''],
    ["demand(exp !== never || kind === 'index', 'status unknown', 'list without an end');", ''],
    ["demand(!isOver(exp * 1000, now), 'status unknown', 'list expired');", ''],
    ["demand(hasBegun(nbf * 1000, now), 'status unknown', 'list not yet valid');", ''],
    ["demand(sign1.protectedHeaders.get(typeLabel) === type, 'status unknown', 'type');", 'void type;'],
  ]),
  ...inFile('server/identity-wallet/trust/status-list.ts', tests('status'), [
    ["demand(!list.identifiers.has(hex(reference.identifier)), 'attestation revoked');", ''],
    ['demand(status === valid,', 'demand(status !== 1 && status !== suspended,'],
    ['[kind, uri, ...', '[uri, ...'],
  ]),
  ...inFile('server/identity-wallet/formats/transcript.ts', tests('annex-c'), [
    ['digest([handover.encryptionInfo, handover.origin])', 'digest([handover.encryptionInfo])'],
  ]),
  ...inFile('server/identity-wallet/protocol/device-request.ts', tests('annex-c'), [
    [
      "joinAsArray(encode('ReaderAuthentication'), transcript, embed(items))",
      "joinAsArray(encode('ReaderAuthentication'), embed(items))",
    ],
  ]),
  ...inFile('server/identity-wallet/protocol/annex-c.ts', tests('annex-c'), [
    ["throw error instanceof ApiError ? error : unreadable('it cannot be decrypted');", 'throw error;'],
    ['query.options[0] ?? []', '[...new Set(query.options.flat())]'],
  ]),
  ...inFile(`${folder}/protocol/nearest-age.ts`, tests('annex-c'), [
    ['value === true && attestedYears >= years', 'value === true && attestedYears <= years'],
    ['isAsked(path) || !otherAges.includes(path[1])', 'isAsked(path)'],
  ]),
  ...inFile('server/identity-wallet/protocol/presentation.ts', tests('annex-c'), [
    ['issuingAuthority === undefined ? state :', 'state ? state :'],
  ]),
  ...inFile('server/identity-wallet/trust/vical.ts', tests('vical'), [
    ['purposes: [vicalSigner],', 'purposes: undefined,'],
    ["usage: 'commits',", "usage: 'signs',"],
    ['if (!docTypes.includes(docType)) return undefined;', 'void docTypes;'],
    ["demand(hasBegun(dateOf(content.get('date'), 'date'), expected.now), 'attestation not yet valid');", ''],
    [
      "checkSign1(sign1, { key, payload, algorithms: onAnyCurve, refusal: 'issuer signature wrong' });",
      'void [key, onAnyCurve, checkSign1];',
    ],
  ]),
  ...inFile('server/identity-wallet/protocol/query.ts', tests('haip'), [
    ['isMdoc ? { intent_to_retain: true } : {}', '{}'],
  ]),
  ...inFile('server/identity-wallet/trust/trust.ts', tests('haip'), [
    ['found.length === authorities.length ? [...new Set(found)] : []', 'found'],
  ]),
  ...inFile(`${folder}/access.ts`, tests('haip'), [
    ['.filter((certificate) => !isSelfSigned(certificate))', ''],
  ]),
  ...inFile(
    'server/platform/config/identity-wallet-config.ts',
    ['platform/config/identity-wallet-config'],
    [['if (certificate.verify(certificate.publicKey)) {', "if (pem === '') {"]],
  ),
  ...inFile(
    'server/webhooks/egress/public-get.ts',
    ['process/public-get'],
    [
      ['if (urlFault !== undefined) throw new Error(urlFault);', ''],
      ['allowed: isPublicAddress, ...route', 'allowed: () => true, ...route'],
      ['if (status !== 200) return', 'if (status > 399) return'],
      ["if (!accept.includes(type.trim())) return 'another content type';", ''],
      ["Number(headers['content-length'] ?? 0) > mostBodyBytes ? 'too long' : undefined", 'undefined'],
      ["if (length > mostBodyBytes) fail(new Error('too long'));", ''],
    ],
  ),
];
