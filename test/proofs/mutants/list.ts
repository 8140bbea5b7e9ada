import { authentication } from './authentication.ts';
import { cli } from './cli.ts';
import { flow } from './flow.ts';
import { handOver } from './hand-over.ts';
import { wallet } from './identity-wallet.ts';
import { liveMode } from './live-mode.ts';
import { money } from './money.ts';
import type { Mutation } from './mutation.ts';
import { passkeys } from './passkeys.ts';
import { roles } from './roles.ts';
import { running } from './running.ts';
import { support } from './support.ts';
import { webhooks } from './webhooks.ts';

export const mutations: readonly Mutation[] = [
  ...money,
  ...handOver,
  ...authentication,
  ...roles,
  ...liveMode,
  ...webhooks,
  ...flow,
  ...cli,
  ...running,
  ...wallet,
  ...passkeys,
  ...support,
];
