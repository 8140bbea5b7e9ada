import * as Args from '@oclif/core/args';
import { OwnedSecretKind } from '../../../contracts/admin/secrets.ts';
import { usageError } from '../../errors/failure.ts';
import { isInteractive } from '../../output/terminal.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { readStdin, refuseSecret, typeHidden } from '../../secrets/input.ts';
import { findSecret } from '../../show/identify.ts';

export default class SecretsFind extends AdminCommand<typeof SecretsFind> {
  static override summary = 'Find out whose a leaked secret is, whether it works, and which command ends it.';
  static override description =
    'Takes a secret of any kind, alone or within a text. It may be of a client, an API key, a webhook, an integration, an operator or a member. Asks for it without showing it, or reads it from stdin. It is hashed here: only its kind and hash are sent. Exit 4 where nothing has it.';
  static override examples = [
    '<%= config.bin %> secrets find',
    '<%= config.bin %> secrets find < leaked.txt',
  ];
  static override args = {
    // Not documented: arguments are visible to other processes and are stored in the history of the shell.
    secret: Args.string({ hidden: true, ignoreStdin: true }),
  };

  async run() {
    if (this.args.secret !== undefined) refuseArgument(this.args.secret);
    const text = isInteractive() ? await typeHidden('Leaked secret') : await readStdin();
    const { masked, kind, hash } = requireOwnedSecret(text);
    const found = await this.api.secrets.find.query({ kind, hash });
    const { next: nextCommand, ...owner } = found;
    this.showRecord({ secret: masked, ...owner });
    if (nextCommand !== null && !this.jsonEnabled()) this.writeNotice(`Next: ${nextCommand}`);
    return found;
  }
}

/** @throws CommandError always. If the argument contains a secret, the error says that it is now in the history of the shell. */
function refuseArgument(argument: string): never {
  refuseSecret(argument);
  throw usageError('A secret is typed when asked for, or read from stdin; never given as an argument');
}

/**
 * Finds the secret in a text, with the kind and the hash by which the server finds its owner.
 * @throws CommandError if the text has no secret, or one of a kind without an owner
 */
function requireOwnedSecret(text: string) {
  const secret = findSecret(text);
  if (!secret)
    throw usageError('No secret of this service is in it: they begin with svc_, whsec_ or intsec_');
  const { reference, masked, name, advice } = secret;
  const kind = OwnedSecretKind.safeParse(reference?.kind).data;
  if (reference === undefined || kind === undefined)
    throw usageError(`${masked} is ${name}: it has no owner`, advice);
  return { masked, kind, hash: reference.hash };
}
