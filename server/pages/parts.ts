import type { createIdentityWallets } from '../identity-wallet/port.ts';
import type { RequestLimit } from '../platform/http/limits/request-limits.ts';
import type { SessionAccess } from '../sessions/session-access.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { createFlow } from './flow/flow.ts';
import type { createStart } from './flow/start.ts';
import type { Pairing } from './hand-off/pairing.ts';
import type { IdentityWalletAnswers } from './identity-wallet/answers.ts';
import type { Pages } from './views/pages.ts';
import type { YourDataPages } from './your-data/pages.ts';
import type { UserSignIn } from './your-data/sign-in.ts';
import type { YourDataOfUser } from './your-data/your-data.ts';

/** What the routes of the hosted pages work with. */
export interface PageParts {
  starts: ReturnType<typeof createStart>;
  flow: ReturnType<typeof createFlow>;
  pairing: Pairing;
  identityWallets: IdentityWalletAnswers;
  testIdentityWallet: ReturnType<typeof createIdentityWallets>['testIdentityWallet'];
  pages: Pages;
  passkeysOn: boolean;
  signIn: UserSignIn;
  yourData: YourDataOfUser;
  yourDataPages: YourDataPages;
  sessions: Pick<SessionStore, 'find'>;
  sessionAccess: Pick<SessionAccess, 'owns' | 'formToken'>;
  limit: RequestLimit;
  findLogo: (id: string) => Promise<Buffer | undefined>;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
}
