import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { encode } from 'cborg';

const flag = { present: 0x01, verified: 0x04, eligible: 0x08, backedUp: 0x10, attested: 0x40 };

/** The fields in which an answer differs from that of an honest browser. */
export interface Forgery {
  origin?: string;
  rpId?: string;
  crossOrigin?: boolean;
  verified?: boolean;
  counter?: number;
  type?: string;
  userHandle?: string;
  /** The signature, or a change of the right one. */
  signature?: Buffer | ((signed: Buffer) => Buffer);
  /** COSE algorithm of the new key. */
  algorithm?: number;
  /** Members of the COSE_Key of the new key, by label. */
  coseKey?: readonly (readonly [number, number | Buffer])[];
  /** The attestation of the new key, by default none. `self` is signed by the key itself. */
  attestation?: 'self' | { fmt: string; attStmt: object };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const toText = (data: Buffer) => data.toString('base64url');

/** A software authenticator with one ES256 passkey. It returns the same JSON as the script of the hosted pages. */
export class TestAuthenticator {
  readonly id = toText(randomBytes(32));
  readonly origin: string;
  userHandle: string | undefined;
  #key: { publicKey: KeyObject; privateKey: KeyObject };
  #counter = 0;
  #hasCounter: boolean;

  constructor(origin: string, { counts = true } = {}) {
    this.origin = origin;
    this.#hasCounter = counts;
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  #clientData(
    challenge: string,
    usualType: string,
    { origin = this.origin, crossOrigin, type = usualType }: Forgery,
  ) {
    return Buffer.from(
      JSON.stringify({ type, challenge, origin, ...(crossOrigin === undefined ? {} : { crossOrigin }) }),
    );
  }

  #authenticatorData(rpId: string, attested: Buffer, { verified = true, counter = this.#counter }: Forgery) {
    const flags =
      flag.present |
      (verified ? flag.verified : 0) |
      (this.#hasCounter ? 0 : flag.eligible | flag.backedUp) |
      (attested.length > 0 ? flag.attested : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), head, attested]);
  }

  /** Returns the answer to the options for a new passkey, as JSON. */
  create(
    options: { challenge: string; rp: { id: string }; user: { id: string } },
    forgery: Forgery = {},
  ): string {
    this.userHandle = options.user.id;
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    const cose = encode(
      new Map<number, number | Buffer>([
        [1, 2],
        [3, forgery.algorithm ?? -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
        ...(forgery.coseKey ?? []),
      ]),
    );
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, cose]);
    const authData = this.#authenticatorData(forgery.rpId ?? options.rp.id, attested, forgery);
    const clientData = this.#clientData(options.challenge, 'webauthn.create', forgery);
    const sig = () => sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.#key.privateKey);
    const { attestation = { fmt: 'none', attStmt: {} }, signature = (signed: Buffer) => signed } = forgery;
    const statement =
      attestation === 'self'
        ? {
            fmt: 'packed',
            attStmt: { alg: -7, sig: typeof signature === 'function' ? signature(sig()) : signature },
          }
        : attestation;
    return JSON.stringify({
      id: this.id,
      response: {
        clientDataJSON: toText(clientData),
        attestationObject: toText(Buffer.from(encode({ ...statement, authData }))),
        transports: ['internal'],
      },
    });
  }

  /** Returns the answer to the options for a sign-in, as JSON. */
  get(options: { challenge: string; rpId: string }, forgery: Forgery = {}): string {
    if (this.#hasCounter && forgery.counter === undefined) this.#counter += 1;
    const clientData = this.#clientData(options.challenge, 'webauthn.get', forgery);
    const authData = this.#authenticatorData(forgery.rpId ?? options.rpId, Buffer.alloc(0), forgery);
    const signed = sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.#key.privateKey);
    const { signature = signed } = forgery;
    const userHandle = forgery.userHandle ?? this.userHandle;
    return JSON.stringify({
      id: this.id,
      response: {
        clientDataJSON: toText(clientData),
        authenticatorData: toText(authData),
        signature: toText(typeof signature === 'function' ? signature(signed) : signature),
        ...(userHandle ? { userHandle } : {}),
      },
    });
  }
}
