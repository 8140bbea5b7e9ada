import type { ClaimName } from '../../../contracts/claims.ts';
import { remaining } from '../methods.ts';
import type { Session } from '../session.ts';
import type { BrowserContext } from '../session-access.ts';
import { claimsAskedFor } from '../steps.ts';
import type { Method, SourceSession, VerificationSource } from './source.ts';

/** A method in the list that the user chooses from. */
export interface OfferedMethod {
  name: string;
  method: Method;
  /** Whether the method is out of order at present. */
  isDown: boolean;
}

/** The data that a session asks its sources for. The pages tell the user about it. */
export interface Asked {
  answered: ClaimName[];
  asksNumber: boolean;
}

/**
 * Makes the functions that find the sources of a session, and what they offer and need.
 * @param sources all verification sources of this installation, by name
 */
export function createSessionSources(sources: ReadonlyMap<string, VerificationSource>) {
  return {
    /** The source of a session. @throws if this installation no longer has it */
    sourceOf(session: Session): VerificationSource {
      const source = sources.get(session.source);
      if (!source) throw new Error(`session ${session._id} needs the verification source ${session.source}`);
      return source;
    },

    /** Whether a source authenticates users on a site of its own, such as an OpenID provider. */
    hasSite: (name: string): boolean => sources.get(name)?.finish !== undefined,

    /** The methods that the user of a session may choose, in the client's order. Those that are out of order come last. */
    offeredTo({ methods }: Session, now: number): OfferedMethod[] {
      const offered = (methods ? remaining(methods) : []).flatMap((name) => {
        const source = sources.get(name);
        return source ? [{ name, method: source.method, isDown: source.isDown(now) }] : [];
      });
      // Sorting keeps the order of methods that are equally available.
      return offered.sort((one, other) => Number(one.isDown) - Number(other.isDown));
    },

    /** What a session asks of its source or, while the user still has to choose one, of all sources that are left. */
    askedOf(session: Session): Asked {
      const { source, methods } = session;
      const names = methods && !methods.chosen ? remaining(methods) : [source];
      const asked = names.flatMap((name) => sources.get(name) ?? []);
      const claims = claimsAskedFor(session);
      return {
        answered: claims.filter((claim) => asked.some(({ answers }) => answers([claim]).length > 0)),
        asksNumber: asked.some(({ asksNumber }) => asksNumber),
      };
    },
  };
}
export type SessionSources = ReturnType<typeof createSessionSources>;

/** The part of a session that its source sees. @param chosen the language that the user chose on our pages */
export function sourceSession(session: Session, chosen?: BrowserContext['language']): SourceSession {
  const { _id: id, partnerId, mode, carried, language } = session;
  return { id, partnerId, mode, carried, claims: claimsAskedFor(session), language: chosen ?? language };
}
