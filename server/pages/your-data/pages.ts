import type { ClaimValue } from '../../../contracts/claims.ts';
import type { Imprint } from '../../platform/config/imprint.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { dayInWords, momentInWords } from '../views/formatters.ts';
import { isolated, languages, withoutDirectionControls } from '../views/languages.ts';
import { helpOf } from '../views/legal.ts';
import type { Page, PageContext, Pages } from '../views/pages.ts';
import { ar } from './messages/ar.ts';
import { de } from './messages/de.ts';
import { en, type YourDataMessages } from './messages/en.ts';
import { es } from './messages/es.ts';
import { fr } from './messages/fr.ts';
import type { SignedIn } from './sign-in.ts';
import type { PartnerShare, YourData } from './your-data.ts';

export const yourDataMessages: Record<Language, YourDataMessages> = { en, de, fr, es, ar };

/** For each client of a partner, the page lists at most so many of the times at which claims were shared with it. */
const mostListed = 10;

/** The browser and address that a page is rendered for. */
export interface PlainContext extends Pick<PageContext, 'language' | 'choiceAddress'> {
  /** The path of `/verify/you`. */
  root: string;
  csrf: string;
}

/** An action of a user that needs a confirmation. */
export type Ending =
  | { kind: 'stop'; partner: PartnerShare }
  | { kind: 'remove'; isLast: boolean }
  | { kind: 'erase' };

/** Why the sign-in before was refused, or has ended. */
export type SignInFault = 'refused' | 'unknown' | 'ended';

export function createYourDataPages(plain: Pages['plain'], imprint: Imprint) {
  /** Markup of a time, which templates and texts must not escape again. */
  const time = (language: Language, at: Date, words = dayInWords) =>
    `<time datetime="${at.toISOString()}">${words(language, at)}</time>`;

  const isolatedName = (name: string, language: Language) =>
    isolated(withoutDirectionControls(name), languages[language]);

  function valueInWords(value: ClaimValue, { kept }: YourDataMessages): string {
    if (value === null) return kept.unknown;
    if (typeof value === 'boolean') return value ? kept.yes : kept.no;
    return String(value);
  }

  /** The template data of a partner. Lists at most `mostListed` readings of each client, and says how many it leaves out. */
  function partnerOf({ name, clients, ...rest }: PartnerShare, language: Language) {
    const { shared: t } = yourDataMessages[language];
    const dayOf = (date: Date) => time(language, date);
    return {
      ...rest,
      name: isolatedName(name, language),
      clients: clients.map((client) => ({
        name: isolatedName(client.name, language),
        claims: client.claims,
        since: t.mayRead(dayOf(client.since)),
        stopped: client.withdrawnAt && t.stopped(dayOf(client.withdrawnAt)),
        shared: client.shared.slice(0, mostListed).map(({ at, claims }) => ({
          at: time(language, at, momentInWords),
          claims,
        })),
        more:
          client.shared.length > mostListed
            ? t.more(new Intl.NumberFormat(language).format(client.shared.length - mostListed))
            : undefined,
      })),
    };
  }

  /** The text that tells users whom to ask, and the address of support, if the operator has set one. */
  const helpTexts = (words: { help: string; alone: string }) => {
    const help = helpOf(imprint);
    return { help, ask: help ? words.help : words.alone };
  };

  function questionOf(ending: Ending, language: Language): YourDataMessages['eraseQuestion'] {
    const { eraseQuestion, removeQuestion, stopQuestion } = yourDataMessages[language];
    switch (ending.kind) {
      case 'erase':
        return eraseQuestion;
      case 'remove': {
        const { last, points } = removeQuestion;
        return ending.isLast ? { ...removeQuestion, points: [...points, last] } : removeQuestion;
      }
      case 'stop':
        return { ...stopQuestion, title: stopQuestion.title(isolatedName(ending.partner.name, language)) };
    }
  }

  return {
    /** @param passkey options for the browser, in JSON; undefined if this installation has no passkeys */
    signIn(
      context: PlainContext,
      {
        passkey,
        fault,
        status,
      }: { passkey: string | undefined; fault?: SignInFault | undefined; status: number },
    ): Page {
      const t = yourDataMessages[context.language];
      return plain('you-sign-in', context, {
        t,
        passkey,
        lead: passkey === undefined ? t.off.lead : t.signIn.lead,
        fault: fault && t.signIn[fault],
        status,
        ...helpTexts(passkey === undefined ? t.off : t.signIn.without),
      });
    },

    show(context: PlainContext, { user, passkey }: SignedIn, data: YourData): Page {
      const { language } = context;
      const t = yourDataMessages[language];
      const { saved, used, neverUsed } = t.passkeys;
      const inWords = (at: Date) => time(language, at);
      return plain('you', context, {
        t,
        testMode: user.mode === 'test',
        partners: data.partners.map((partner) => partnerOf(partner, language)),
        claims: Object.entries(user.claims).map(([name, { value, evaluatedAt }]) => ({
          name,
          value: valueInWords(value, t),
          at: t.kept.at(inWords(evaluatedAt)),
        })),
        passkeys: data.passkeys.map(({ _id: id, createdAt, lastUsedAt, synced }) => ({
          id,
          synced,
          isThis: id === passkey._id,
          about: [saved(inWords(createdAt)), lastUsedAt ? used(inWords(lastUsedAt)) : neverUsed].join(' · '),
        })),
      });
    },

    ask(context: PlainContext & { action: string }, ending: Ending): Page {
      const { action, language } = context;
      const t = yourDataMessages[language];
      return plain('you-question', context, { t, action, question: questionOf(ending, language) });
    },

    /** The page after an erasure or the removal of the present passkey, and after an erasure that a legal hold prevents. */
    done: (context: PlainContext, done: 'erased' | 'held' | 'removed'): Page =>
      plain('you-done', context, { done: yourDataMessages[context.language][done] }),
  };
}
export type YourDataPages = ReturnType<typeof createYourDataPages>;
