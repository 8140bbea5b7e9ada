import type { YourDataMessages } from './en.ts';

export const de: YourDataMessages = {
  title: 'Ihre Daten',
  signIn: {
    lead: 'Sehen Sie, welche Seiten welche Antworten über Sie bekommen haben, und beenden Sie es. Sie melden sich mit dem Passkey an, den Sie hier gespeichert haben.',
    button: 'Mit einem Passkey anmelden',
    refused: 'Ihr Passkey wurde nicht angenommen. Bitte versuchen Sie es noch einmal.',
    unknown:
      'Wir kennen diesen Passkey nicht. Er wurde entfernt, oder alles zu dieser Person wurde gelöscht.',
    trouble:
      'Es wurde kein Passkey benutzt. Vielleicht ist er nicht auf diesem Gerät. Sie können es noch einmal versuchen.',
    ended:
      'Sie sind nicht mehr angemeldet. Es wurde nichts geändert. Melden Sie sich an, und drücken Sie die Schaltfläche noch einmal.',
    without: {
      help: 'Sie haben keinen Passkey, oder es erscheint keine Schaltfläche? Fragen Sie die Seite, für die Sie sich verifiziert haben, oder schreiben Sie uns:',
      alone:
        'Sie haben keinen Passkey, oder es erscheint keine Schaltfläche? Fragen Sie die Seite, für die Sie sich verifiziert haben.',
    },
  },
  off: {
    lead: 'Sie können jederzeit widerrufen und alles über sich löschen lassen.',
    help: 'Sagen Sie es der Seite, für die Sie sich verifiziert haben, oder schreiben Sie uns:',
    alone: 'Sagen Sie es der Seite, für die Sie sich verifiziert haben.',
  },
  signedIn: 'Sie sind für 15 Minuten angemeldet.',
  signOut: 'Abmelden',
  shared: {
    title: 'Wer was bekommen hat',
    none: 'Keine Seite kann etwas über Sie lesen.',
    mayRead: (time) => `Von Ihnen erlaubt am ${time}, und wieder lesbar:`,
    nothing: 'Nichts ist lesbar.',
    stopped: (time) => `Sie haben die Weitergabe am ${time} beendet.`,
    got: 'In den letzten 30 Tagen gelesen',
    gotNothing: 'In den letzten 30 Tagen wurde nichts gelesen.',
    more: (count) => `Und ${count} weitere.`,
    stop: (partner) => `Nichts mehr an ${partner} weitergeben`,
  },
  kept: {
    title: 'Was wir über Sie aufbewahren',
    none: 'Wir bewahren keine Antwort über Sie auf.',
    yes: 'ja',
    no: 'nein',
    unknown: 'nicht bekannt',
    at: (time) => `verifiziert am ${time}`,
  },
  passkeys: {
    title: 'Ihre Passkeys',
    saved: (time) => `Gespeichert am ${time}`,
    used: (time) => `zuletzt verwendet am ${time}`,
    neverUsed: 'noch nicht verwendet',
    now: 'Mit diesem haben Sie sich angemeldet.',
    synced: 'Auf mehreren Geräten vorhanden',
    remove: 'Diesen Passkey entfernen',
  },
  erase: {
    title: 'Alles löschen',
    text: 'Wir vergessen alle Ihre Antworten, Seiten und Passkeys.',
    button: 'Alles löschen',
  },
  stopQuestion: {
    title: (partner) => `Nichts mehr an ${partner} weitergeben?`,
    points: [
      'Die Seite kann ab jetzt nichts mehr über Sie lesen, auch nicht, was sie bisher lesen konnte.',
      'Was sie schon bekommen hat, bleibt dort: Bitten Sie die Seite, es zu löschen.',
      'Wenn Sie sich dort wieder verifizieren, fragen wir Sie vorher.',
    ],
    yes: 'Weitergabe beenden',
  },
  removeQuestion: {
    title: 'Diesen Passkey entfernen?',
    points: [
      'Sie können damit nicht mehr zurückkehren und sich hier nicht mehr anmelden.',
      'Entfernen Sie ihn auch in Ihrem Gerät oder Passwortmanager.',
    ],
    last: 'Es ist Ihr einziger Passkey. Um Ihre Daten hier wieder zu sehen, müssen Sie nach einer Verifizierung einen neuen speichern.',
    yes: 'Passkey entfernen',
  },
  eraseQuestion: {
    title: 'Alles über Sie löschen?',
    points: [
      'Wir löschen Ihre Antworten, Ihre Passkeys und woran Seiten Sie hier erkennen. Das lässt sich nicht rückgängig machen.',
      'Seiten können nichts mehr lesen. Was sie schon bekommen haben, bleibt dort: Bitten Sie sie, es zu löschen.',
      'Wenn Sie sich wieder verifizieren, sind Sie eine neue Person.',
    ],
    yes: 'Alles löschen',
  },
  back: 'Zurück zu Ihren Daten',
  erased: {
    title: 'Alles wurde gelöscht',
    text: 'Wir bewahren nichts mehr über Sie auf. Entfernen Sie den Passkey auch in Ihrem Gerät oder Passwortmanager.',
  },
  held: {
    title: 'Noch kann nichts gelöscht werden',
    text: 'Wir müssen Ihre Daten vorerst aufbewahren, weil ein Gesetz oder ein Gericht es verlangt. Bitte fragen Sie später noch einmal.',
  },
  removed: {
    title: 'Der Passkey wurde entfernt',
    text: 'Sie sind abgemeldet. Entfernen Sie ihn auch in Ihrem Gerät oder Passwortmanager.',
  },
};
