import * as Flags from '@oclif/core/flags';
import { longestCaptured } from '../../../contracts/admin/webhooks.ts';
import { exits, usageError } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';
import { readInputFile } from '../../flags/input-file.ts';
import { localTimes } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';

/** Reads the bytes of a captured body, because any change, even of a line end, makes the signature invalid. */
function readBody(path: string): Buffer {
  try {
    return readInputFile(path);
  } catch (error) {
    throw usageError((error as Error).message);
  }
}

/** Base64 has four characters for three bytes. */
const mostBytes = (longestCaptured / 4) * 3;

/** Returns the body in base64, because bytes that are not UTF-8 would change as text, and text of other scripts is longer in a URL. */
function encodeBody(bytes: Buffer) {
  if (bytes.length > mostBytes)
    throw usageError(`--body: has ${bytes.length} bytes; at most ${mostBytes} can be verified`);
  return { body: bytes.toString('base64'), encoding: 'base64' as const };
}

export default class WebhooksVerify extends AdminCommand<typeof WebhooksVerify> {
  static override summary =
    'Verify the signature of a captured request, and explain a mismatch. Exit 1 on a mismatch.';
  static override examples = [
    '<%= config.bin %> webhooks verify key_… --body request.json --signature sha256=…',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    body: Flags.string({ description: 'file with the raw body; - for stdin', required: true }),
    signature: Flags.string({ description: 'value of X-SVC-Signature', required: true }),
    computed: Flags.string({ description: 'the signature that the receiver computes itself' }),
  };

  async run() {
    const { body, signature, computed } = this.flags;
    const request = { keyId: this.args.key, ...encodeBody(readBody(body)), signature, computed };
    const verification = await this.api.webhooks.verify.query(request);
    const { verified, faults, reasons } = verification;
    this.log(verified ? 'The signature verifies.' : 'The signature does not verify:');
    for (const reason of reasons) this.log(`- ${localTimes(reason)}`);
    // A right signature with a fault: the receiver computes another one.
    if (!verified || faults.length > 0) process.exitCode = exits.failure;
    return verification;
  }
}
