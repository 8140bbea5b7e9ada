import { logoFor } from '../../../contracts/admin/brands.ts';
import type { ClientView } from '../../../contracts/admin/clients.ts';
import type { Device } from '../../../contracts/verification.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import type { Session } from '../../sessions/session.ts';
import { claimsAskedFor, formVersionOf, stepOf } from '../../sessions/steps.ts';
import type { PagesContext } from '../context.ts';
import type { View } from '../flow/view.ts';
import type { OpenLink } from '../hand-off/pairing.ts';
import { assetAddresses, eta } from './assets.ts';
import { timeInWords } from './formatters.ts';
import { isolated, languageNames, languages, withoutDirectionControls } from './languages.ts';
import { legalOf, spanInWords } from './legal.ts';
import { type ProblemContext, problemOf } from './problems.ts';
import { usesOf } from './purpose.ts';
import type { PageContent } from './security-headers.ts';
import { timeLeft } from './time-left.ts';
import { deviceInWords, type RequestContext, refreshOf, viewModelOf } from './view-models.ts';

export interface PageContext extends Pick<RequestContext, 'action' | 'language' | 'onPhone'> {
  csrf: string;
  /** The relative address of this page in another language. The code of the language has to be appended. */
  choiceAddress: string;
  /** Which of the session's devices the page is for. */
  device: Device;
}

/** The phone's part ends with the confirmation, the computer's with the return to the partner. */
const steps = {
  computer: ['consent', 'verify', 'done'],
  phone: ['consent', 'verify', 'confirm'],
} as const;

interface Failure extends ProblemContext, Pick<PageContext, 'language' | 'choiceAddress'> {
  requestId: string;
  /** The address that the button "Try again" opens. */
  retryAt: string;
  /** The site that the user came from, if there is no session. */
  from: URL | undefined;
}

/** The partner and the settings of its client that the hosted pages show. */
interface PartnerSettings
  extends Partial<Pick<ClientView, 'brandName' | 'brandColor' | 'purpose' | 'privacyUrl'>> {
  name: string;
  logo: string | null | undefined;
  redirectUri: string;
}

export interface Page extends PageContent {
  status: number;
  html: string;
  /** The `Refresh` header: when the browser should reload this page, or load another one. */
  refresh?: string;
}

/** The text about the user's data. Some of these texts name the partner, and are omitted if its name is not known. */
function outcomeInWords(text: string | ((partner: string) => string), partner: string | undefined) {
  if (typeof text === 'string') return text;
  return partner === undefined ? undefined : text(partner);
}

export function createPages({ directory, baseUrl, clock, imprint, claimLifetime }: PagesContext) {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const { brandStyle, logo, ...files } = assetAddresses(`${basePath}/verify/assets`);
  const common = ({ language, choiceAddress }: Pick<PageContext, 'language' | 'choiceAddress'>) => ({
    ...files,
    yourData: `${basePath}/verify/you`,
    m: languages[language],
    languages: languageNames.map((choice) => ({ ...choice, href: choiceAddress + choice.code })),
    ...legalOf(imprint, languages[language]),
  });

  function present(settings: PartnerSettings, language: Language) {
    const { brandColor, purpose, privacyUrl, redirectUri } = settings;
    const m = languages[language];
    const { brandName, name: partnerName } = settings;
    const name = withoutDirectionControls(brandName ?? partnerName);
    const { origin, host } = new URL(redirectUri);
    // The operator's name for the partner stands beside every other name.
    const isOther = brandName !== undefined && brandName !== null && brandName !== partnerName;
    const partner = isolated(name, m) + (isOther ? ` (${isolated(partnerName, m)})` : '');
    return {
      // Replaces the notices that every page has by the same ones and the partner's privacy notice.
      ...(privacyUrl ? legalOf(imprint, m, { partner, privacyUrl }) : {}),
      partner,
      // The name alone, for headings: both names stand above them.
      brand: isolated(name, m),
      // Shown in place of a logo. `Array.from` does not cut a character that has two code units.
      initial: Array.from(name)[0]?.toUpperCase() ?? '',
      logo: settings.logo ? logo(settings.logo) : undefined,
      brandStyle: brandColor ? brandStyle(brandColor) : undefined,
      purpose: purpose ? withoutDirectionControls(purpose) : undefined,
      origin,
      host,
      isolatedHost: isolated(host, m),
    };
  }

  /** The partner as the settings of the session's client present it. */
  async function partnerOf({ clientId, mode, redirectUri }: Session, language: Language) {
    const { client, partner } = (await directory.client(clientId)) ?? {};
    const logo = partner && logoFor(mode, partner);
    return present({ ...client, name: partner?.name ?? '', logo, redirectUri }, language);
  }

  /** The time that is left, for the warning that the session ends soon. */
  function timeOf({ expiresAt }: Session, language: Language) {
    const { minutes, ...rest } = timeLeft(expiresAt.getTime(), clock.now());
    return { ...rest, text: timeInWords(language, minutes, 'minute') };
  }

  async function sessionData(session: Session, context: Omit<PageContext, 'onPhone'>) {
    const { language, action, csrf, device } = context;
    return {
      ...common(context),
      ...(await partnerOf(session, language)),
      time: timeOf(session, language),
      testMode: session.mode === 'test',
      action,
      csrf,
      formVersion: formVersionOf(session, stepOf(session, clock.now())),
      steps: steps[device],
      keptFor: spanInWords(claimLifetime, language),
    };
  }

  return {
    async show(view: View, context: PageContext): Promise<Page> {
      const data = await sessionData(view.session, context);
      const requestContext = { ...context, baseUrl, now: clock.now() };
      const { template, scripted = false, status = 200, ...viewData } = viewModelOf(view, requestContext);
      const refresh = refreshOf(view, { now: clock.now(), usualSeconds: data.time.refreshAfter });
      return {
        status,
        html: eta.render(`/steps/${template}`, { ...data, scripted, ...viewData }),
        leadsTo: data.origin.startsWith('http:') ? 'http' : 'https',
        // One script polls for changes, another one asks for a passkey.
        scripted: scripted || viewData['passkey'] !== undefined,
        ...givenFields({ refresh }),
      };
    },

    /**
     * The page of a phone's link, where the user types the code.
     * @param context.wrong whether the user has just typed a wrong code
     */
    async link(
      { session, handoff }: OpenLink,
      context: Omit<PageContext, 'onPhone' | 'device'> & { wrong: boolean },
    ): Promise<Page> {
      const data = await sessionData(session, { ...context, device: 'phone' });
      const computer = deviceInWords(handoff.computer, data.m);
      const claims = claimsAskedFor(session);
      return {
        status: 200,
        html: eta.render('/steps/code', { ...data, step: 'verify', computer, claims, wrong: context.wrong }),
      };
    },

    /** The consent page as users of a client would see it, from the same template, without a session. */
    previewConsent: (
      { claims, mode, ...settings }: PartnerSettings & Pick<ClientView, 'claims' | 'mode'>,
      language: Language,
    ): string =>
      eta.render('/steps/consent', {
        ...common({ language, choiceAddress: '' }),
        ...present(settings, language),
        // A preview has no menu of languages, its time does not run out, and its form cannot be sent.
        languages: [],
        time: { ending: false },
        action: '',
        csrf: '',
        formVersion: '',
        testMode: mode === 'test',
        steps: steps.computer,
        step: 'consent',
        keptFor: spanInWords(claimLifetime, language),
        claims,
        // The preview does not depend on a source. It shows the page of a source that answers everything.
        answered: claims,
        uses: usesOf(claims),
      }),

    /**
     * A page of a user's own data, without a session.
     * @param data what its template needs besides the common data. A page that asks for a passkey has the options for it.
     */
    plain: (
      template: string,
      context: Pick<PageContext, 'language' | 'choiceAddress'>,
      { status = 200, ...data }: { status?: number; passkey?: string | undefined } & Record<string, unknown>,
    ): Page => ({
      status,
      html: eta.render(`/your-data/${template}`, {
        ...common(context),
        // Callers pass more than the common context: the CSRF token, and addresses of their pages.
        ...context,
        ownStyle: files.yourDataStyle,
        ...data,
      }),
      scripted: data.passkey !== undefined,
    }),

    async error(
      error: ApiError,
      { language, choiceAddress, requestId, retryAt, from, ...context }: Failure,
    ): Promise<string> {
      const { name, outcome, ...rest } = problemOf(error, context);
      const { m, ...files } = common({ language, choiceAddress });
      // If the database cannot be reached, the page omits the partner's name.
      const partner = context.session && (await partnerOf(context.session, language).catch(() => undefined));
      // The button "Back" leads from the computer to the partner, and after a bad request to the site that has sent it.
      const toPartner = context.device === 'computer' && partner && { back: `${partner.origin}/` };
      const toSender = name === 'invalid' &&
        from && { back: `${from.origin}/`, isolatedHost: isolated(from.host, m) };
      return eta.render('/problem', {
        ...files,
        ...partner,
        ...rest,
        m,
        problem: m.problems[name],
        good: name === 'finished',
        outcome: outcome && outcomeInWords(m.outcome[outcome], partner?.partner),
        retryAt,
        ...(toPartner || toSender),
        requestId,
      });
    },
  };
}
export type Pages = ReturnType<typeof createPages>;
