import type { Messages } from './en.ts';

export const de: Messages = {
  language: 'de',
  name: 'Deutsch',
  nameLabel: 'Sprache',
  direction: 'ltr',
  testMode: { title: 'Testmodus:', text: 'nur zum Ausprobieren. Kein Ergebnis zählt.' },
  steps: {
    label: 'Fortschritt',
    consent: 'Zustimmung',
    verify: 'Nachweis',
    done: 'Fertig',
    confirm: 'Bestätigung',
  },
  time: {
    ending: (time) => `Noch weniger als ${time}`,
    consequence: (partner) =>
      `Danach wird diese Prüfung geschlossen und nichts weitergegeben. Bei ${partner} können Sie neu beginnen.`,
  },
  consent: {
    title: (partner) => `${partner} eine geprüfte Auskunft geben?`,
    lead: (partner) =>
      `Wir sind SVC Identity. ${partner} bittet uns, Folgendes über Sie zu bestätigen. Sie entscheiden, ob wir das dürfen.`,
    shared: (partner) => `${partner} erfährt`,
    notShared: (partner) => `${partner} erfährt nicht`,
    withheld: [
      'Ihren Namen oder Ihr Geburtsdatum',
      'Ihre Anschrift, E-Mail-Adresse oder Telefonnummer',
      'Ihre Ausweise oder Bilder von Ihnen',
    ],
    ifKnown: 'falls von früher bekannt',
    unanswered:
      'Dieser Nachweis enthält das nicht: Es wird nur weitergegeben, wenn Sie es früher nachgewiesen haben',
    number:
      'Eventuell wird auch eine persönliche Nummer abgefragt: nur, um Sie wiederzuerkennen. Wir speichern sie nicht und geben sie nicht weiter.',
    exactly: 'Was genau, und wie es weitergeht',
    purpose: {
      title: 'Wozu das dient',
      own: (partner) => `${partner} sagt dazu:`,
      lead: (partner) => `Mit diesen Auskünften kann ${partner}`,
      uses: {
        age: 'prüfen, ob Sie für das Angebot alt genug sind',
        identity: 'sicher sein, dass eine echte, überprüfte Person anfragt',
        country: 'die Regeln Ihres Landes einhalten',
        assurance: 'beurteilen, wie weit auf die Auskünfte Verlass ist',
      },
    },
    keeping: {
      title: 'Wie lange, und wie Sie widerrufen',
      kept: (time) =>
        `Wir bewahren die Auskünfte höchstens ${time} auf, Aufzeichnungen über Weitergegebenes 30 Tage länger.`,
      again: (partner) =>
        `Beim nächsten Nachweis, für ${partner} oder eine andere Seite, verwenden wir sie wieder und fragen Sie vorher. Solange wir sie aufbewahren, kann ${partner} auch erneut lesen, was Sie hier erlauben.`,
      withdraw: (partner) => `Sie können jederzeit widerrufen: Sagen Sie es ${partner}.`,
      help: 'Oder schreiben Sie uns:',
    },
    next: (host) =>
      `Als Nächstes prüfen wir das mit Ihnen. Danach kehren Sie zu ${host} zurück. Wenn Sie es nicht erlauben, kehren Sie jetzt dorthin zurück.`,
    accept: 'Erlauben und weiter',
    decline: 'Nicht erlauben',
  },
  claims: {
    age_16_plus: { title: 'Ob Sie mindestens 16 sind', text: 'Nur ja oder nein, nie Ihr Alter' },
    age_18_plus: { title: 'Ob Sie mindestens 18 sind', text: 'Nur ja oder nein, nie Ihr Alter' },
    age_21_plus: { title: 'Ob Sie mindestens 21 sind', text: 'Nur ja oder nein, nie Ihr Alter' },
    identity_verified: {
      title: 'Dass Ihre Identität geprüft wurde',
      text: 'Nur ja oder nein, nicht, wer Sie sind',
    },
    country: { title: 'Ihr Land', text: 'Nur das Kürzel, etwa DE oder US' },
    assurance_level: { title: 'Wie gründlich geprüft wurde', text: 'Eine Stufe von 1 bis 3' },
  },
  code: {
    title: 'Einen Code, der für Sie steht',
    text: (partner) => `Nur ${partner} erhält ihn, um Sie nächstes Mal wiederzuerkennen`,
  },
  people: {
    title: 'Wer möchten Sie sein?',
    lead: (partner) =>
      `Im Testmodus melden Sie sich als eine dieser Personen an. Jede liefert ${partner} ein bestimmtes Ergebnis.`,
    shared:
      'Alle Testenden teilen sich diese Personen, außer der jedes Mal neuen. Darum haben sie keinen Passkey und keine Seite mit eigenen Daten.',
    groups: {
      claims: {
        title: 'Angaben',
        text: 'Die Prüfung gelingt, und der Code lässt sich gegen diese Angaben tauschen.',
      },
      failures: {
        title: 'Gescheiterte Prüfungen',
        text: 'Der Browser kommt mit einem Fehler statt mit einem Code zurück.',
      },
      refusals: {
        title: 'Ablehnungen des Austauschs',
        text: 'Die Prüfung gelingt; der Austausch des Codes wird danach wie beschrieben abgelehnt.',
      },
    },
    names: {
      adult: { title: 'Erwachsen', text: 'Über 21, alle Angaben positiv' },
      'new-adult': { title: 'Neu und erwachsen', text: 'Bei jedem Durchlauf eine neue Person' },
      'young-adult': { title: 'Junge Erwachsene', text: '19 Jahre: mindestens 18, nicht 21' },
      teen: { title: 'Jugendlich', text: '17 Jahre: mindestens 16, nicht 18' },
      child: { title: 'Kind', text: '15 Jahre: alle Altersangaben negativ' },
      abroad: { title: 'Aus dem Ausland', text: 'Erwachsen, das Land ist US' },
      'unknown-country': { title: 'Land unbekannt', text: 'Erwachsen, das Land ist null' },
      'age-only': {
        title: 'Nur das Alter',
        text: 'Ohne Ausweis: Identität nicht geprüft, kein Land, Stufe 1',
      },
      biometric: { title: 'Ausweis und Gesicht', text: 'Erwachsen, geprüft auf Stufe 3' },
      unknown: { title: 'Nichts bekannt', text: 'Alle Angaben sind null' },
      rejected: { title: 'Abgelehnt', text: 'Der Ausweis wird nicht anerkannt' },
      'source-down': { title: 'Quelle gestört', text: 'Die prüfende Stelle antwortet nicht' },
      duplicate: {
        title: 'Doppelt',
        text: '403, unter anderer Identität bekannt: die Registrierung ist gesperrt',
      },
      'client-inactive': { title: 'Inaktiver Client', text: '403, der Client ist nicht aktiv' },
      'low-balance': { title: 'Guthaben zu klein', text: '402, das Guthaben reicht nicht' },
      'minute-cap': { title: 'Minutengrenze', text: '429, die Ausgabengrenze dieser Minute ist erreicht' },
      'hour-cap': { title: 'Stundengrenze', text: '429, die Ausgabengrenze dieser Stunde ist erreicht' },
      unavailable: { title: 'Nicht verfügbar', text: '503, die Ausgabengrenzen sind nicht prüfbar' },
    },
  },
  methods: {
    title: 'Wie möchten Sie es nachweisen?',
    lead: 'Wählen Sie einen Weg. Geht es so nicht, können Sie einen anderen wählen.',
    people: { title: 'Testpersonen', text: 'Erfundene Personen zum Ausprobieren' },
    provider: (source) => `Sie melden sich auf der Seite von ${source} an`,
    identityWallet: 'Sie brauchen die App dafür, auf dem Telefon oder in diesem Browser',
    down: 'Zurzeit nicht verfügbar',
    ended: {
      abandoned: (source) =>
        `Sie haben ${source} abgebrochen. Nichts wurde weitergegeben. Wählen Sie noch einmal, oder brechen Sie ab.`,
      document_rejected: (source) =>
        `${source}: Der Nachweis konnte nicht angenommen werden. Nichts wurde weitergegeben. Wählen Sie einen anderen Weg.`,
      source_error: (source) =>
        `${source} hat nicht brauchbar geantwortet. Nichts wurde weitergegeben. Wählen Sie einen anderen Weg.`,
    },
    other: 'Anderen Weg wählen',
  },
  provider: {
    title: (source) => `Nachweis über ${source}`,
    lead: (source, partner) =>
      `${source} prüft, wer Sie sind, und teilt es uns mit. An ${partner} geben wir nur weiter, was Sie eben erlaubt haben.`,
    points: [
      (source) => `Sie melden sich auf der Seite von ${source} an. Ihr Passwort sehen wir nie.`,
      (source, partner) => `${source} erfährt nicht, dass es für ${partner} ist.`,
      () => 'Wir behalten die Auskünfte, nicht die Daten dahinter.',
    ],
    go: (source) => `Weiter zu ${source}`,
  },
  identityWallet: {
    title: (source) => `Nachweis mit ${source}`,
    lead: (source, partner) =>
      `${source} zeigt uns, was ${partner} wissen will. In der App sehen Sie alles, bevor Sie zustimmen.`,
    open: (source) => `${source} öffnen`,
    digital: 'Identitäts-Wallet in diesem Browser wählen',
    absent: {
      computer:
        'Ist die App auf Ihrem Telefon? Machen Sie dort weiter. An diesem Computer öffnet sie sich nur, wenn sie hier installiert ist.',
      phone:
        'Passiert nichts? Dann ist die App nicht auf diesem Gerät. Installieren Sie die App Ihres Landes und kommen Sie wieder, oder brechen Sie ab.',
    },
    declined: {
      title: 'Sie haben in Ihrer Identitäts-Wallet abgelehnt.',
      text: 'Nichts wurde weitergegeben. Versuchen Sie es noch einmal oder brechen Sie ab.',
    },
    trouble: {
      title: 'Ihre Identitäts-Wallet konnte nicht antworten.',
      text: 'Vielleicht enthält sie das Gewünschte nicht. Nichts wurde weitergegeben. Versuchen Sie es noch einmal oder brechen Sie ab.',
    },
    answered: {
      title: 'Ihre Identitäts-Wallet hat geantwortet.',
      text: 'Sie führt Sie in diesen Browser zurück. Hat sie einen anderen geöffnet, öffnen Sie die Identitäts-Wallet noch einmal von hier aus.',
    },
    test: {
      title: 'Test-Identitäts-Wallet',
      text: 'Im Testmodus können Sie alles mit erfundenen Personen ausprobieren.',
      button: 'Test-Identitäts-Wallet öffnen',
    },
  },
  passkey: {
    use: 'Erlauben, mit einem Passkey',
    title: 'Nächstes Mal mit Fingerabdruck, Gesicht oder PIN nachweisen?',
    lead: 'Speichern Sie einen Passkey auf diesem Gerät. Nächstes Mal genügt ein Tippen, hier und auf anderen Seiten, die SVC Identity fragen.',
    kept: (time) =>
      `Wir bewahren damit Ihre Antworten bis zu ${time} auf: keine Dokumente und keine Bilder von Ihnen.`,
    points: [
      'Ihr Fingerabdruck und Ihr Gesicht verlassen Ihr Gerät nie.',
      'Wer dieses Gerät entsperren kann, kann den Passkey benutzen.',
    ],
    save: 'Passkey speichern',
    later: 'Jetzt nicht',
    trouble: {
      use: 'Es wurde kein Passkey benutzt. Vielleicht ist er nicht auf diesem Gerät. Versuchen Sie es noch einmal, oder wählen Sie „Erlauben und weiter“.',
      save: 'Es wurde kein Passkey gespeichert. Versuchen Sie es noch einmal, oder wählen Sie „Jetzt nicht“.',
    },
  },
  handoff: {
    offer: {
      title: 'Möchten Sie lieber Ihr Telefon benutzen?',
      text: 'Führen Sie den Nachweis dort und kehren Sie auf diese Seite zurück.',
      button: 'Auf meinem Telefon fortfahren',
    },
    title: 'Auf dem Telefon fortfahren',
    lead: 'Lassen Sie diese Seite offen. Sie geht von selbst weiter, sobald Sie auf dem Telefon fertig sind.',
    scan: 'Nehmen Sie dies mit der Kamera Ihres Telefons auf',
    local: {
      title: 'Öffnen Sie diese Adresse in einem anderen Browser',
      text: 'Einen QR-Code gibt es hier nicht: Der Dienst läuft auf localhost, und ein Telefon kann diese Adresse nicht öffnen.',
    },
    link: 'Oder öffnen Sie dort diese Adresse',
    code: 'Geben Sie dann auf dem Telefon diesen Code ein',
    codeText: 'Nennen Sie ihn niemandem. Wir fragen nie per Telefon, E-Mail oder Chat danach.',
    lifetime: 'Adresse und Code gelten einmal, 2 Minuten lang.',
    stay: 'Stattdessen an diesem Computer fortfahren',
    expired: {
      title: 'Diese Adresse ist abgelaufen',
      text: 'Adressen für das Telefon gelten 2 Minuten. Erzeugen Sie eine neue oder fahren Sie hier fort.',
      button: 'Neue Adresse erzeugen',
    },
    noneLeft:
      'Für diese Prüfung gab es schon alle zehn Adressen für das Telefon. Fahren Sie an diesem Computer fort, oder brechen Sie ab und beginnen Sie neu.',
    mistyped:
      'Es wurden drei falsche Codes eingegeben, deshalb gilt die Adresse für das Telefon nicht mehr. Nichts wurde weitergegeben.',
    taken: {
      title: 'Jetzt auf dem Telefon weiter',
      text: (phone) => `Geöffnet mit: ${phone}. Lassen Sie diese Seite offen: Sie geht von selbst weiter.`,
    },
  },
  phone: {
    title: (partner) => `Nachweis für ${partner}`,
    lead: (partner, computer) =>
      `${partner} bittet uns, Folgendes über Sie zu bestätigen. Die Anfrage wurde hier begonnen: ${computer}.`,
    warning:
      'Fahren Sie nur fort, wenn Sie sie selbst begonnen haben und jenen Bildschirm vor sich sehen. Hat Ihnen jemand diese Adresse geschickt, schließen Sie die Seite.',
    code: 'Code auf jenem Bildschirm',
    codeHint: 'Sechs Ziffern, neben der geöffneten Adresse',
    wrong: 'Das ist nicht der Code. Nach drei falschen Codes gilt die Adresse nicht mehr.',
    submit: 'Weiter',
    confirm: {
      title: 'Ist das Ihr Computer?',
      lead: (partner) =>
        `Sie haben sich angemeldet. Noch wurde nichts weitergegeben. Die Auskünfte für ${partner} gehen an diesen Computer:`,
      began: 'Begonnen:',
      warning:
        'Wenn Sie ihn nicht gerade vor sich sehen, versucht womöglich jemand, sich für Sie auszugeben: Wählen Sie Nein.',
      yes: 'Ja, das ist mein Computer',
      no: 'Nein, hier abbrechen',
    },
    done: { title: 'Fertig', text: 'Weiter geht es an Ihrem Computer. Sie können diese Seite schließen.' },
    ended: {
      title: 'Diese Prüfung ist beendet',
      text: 'Ihr Computer zeigt, wie es weitergeht. Sie können diese Seite schließen.',
    },
  },
  devices: {
    named: (browser, system) => `${browser} unter ${system}`,
    browser: 'Browser',
    system: 'unbekanntem System',
  },
  done: {
    title: 'Fertig',
    text: (partner) => `Sie werden zu ${partner} zurückgebracht.`,
    stopped: 'Kein Nachweis',
    go: (partner) => `Weiter zu ${partner}`,
  },
  cancel: (partner) => `Abbrechen und zurück zu ${partner}`,
  yourData: 'Ansehen, was Sie weitergeben, und es beenden',
  footer: 'Wir behalten die Auskünfte, nie Ihre Ausweise.',
  legal: {
    by: (name) => `Ein Dienst von ${name}`,
    privacy: 'Datenschutz',
    privacyOf: (partner) => `Datenschutz bei ${partner}`,
    terms: 'Nutzungsbedingungen',
    help: 'Hilfe',
  },
  reference: 'Wenn Sie um Hilfe bitten, nennen Sie dieses Kennzeichen:',
  retry: 'Erneut versuchen',
  withoutPasskey: 'Ohne Passkey weitermachen',
  back: (host) => `Zurück zu ${host}`,
  developer: 'Für die Entwicklung der Anwendung',
  outcome: {
    nothingShared: 'Über Sie wurde nichts weitergegeben.',
    nothingHere: 'Aus diesem Browser wurde nichts weitergegeben.',
    signedIn: (partner) =>
      `Keine der Auskünfte wurde weitergegeben. ${partner} hat den Code erhalten, der dort für Sie steht, und erfahren, dass Sie sich angemeldet haben und dass die Prüfung beendet ist.`,
    answersShared: (partner) => `${partner} konnte lesen, was Sie erlaubt haben, und sonst nichts.`,
  },
  problems: {
    expired: {
      title: 'Diese Prüfung ist abgelaufen',
      text: 'Eine Prüfung ist 30 Minuten offen. Gehen Sie zur Seite oder App zurück, von der Sie kamen, und beginnen Sie neu.',
    },
    otherBrowser: {
      title: 'Fahren Sie dort fort, wo Sie begonnen haben',
      text: 'Diese Prüfung gehört zu einem anderen Browser oder Gerät, oder sie ist abgelaufen. Öffnen Sie sie dort, oder beginnen Sie auf der Seite oder in der App neu, von der Sie kamen. Wenn Sie in diesem Browser begonnen haben, erlauben Sie Cookies für diese Website.',
    },
    finished: {
      title: 'Diese Prüfung ist bereits abgeschlossen',
      text: 'Hier ist nichts mehr zu tun. Sie können diese Seite schließen.',
    },
    cancelled: {
      title: 'Diese Prüfung wurde abgebrochen',
      text: 'Hier ist nichts mehr zu tun. Sie können auf der Seite oder in der App neu beginnen, von der Sie kamen.',
    },
    declined: {
      title: 'Sie haben es nicht erlaubt',
      text: 'Ohne Ihre Erlaubnis geschieht nichts. Wenn Sie es sich anders überlegen, beginnen Sie auf der Seite oder in der App neu, von der Sie kamen.',
    },
    rejected: {
      title: 'Der Nachweis ist nicht gelungen',
      text: 'Was vorgelegt wurde, konnte nicht anerkannt werden. Sie können es mit einem anderen Ausweis versuchen; beginnen Sie auf der Seite oder in der App neu, von der Sie kamen.',
    },
    sourceFailed: {
      title: 'Die Prüfung konnte nicht abgeschlossen werden',
      text: 'Die prüfende Stelle gab keine brauchbare Antwort. Beginnen Sie auf der Seite oder in der App neu, von der Sie kamen.',
    },
    sourceDown: {
      title: 'Die prüfende Stelle antwortet nicht',
      text: 'Die prüfende Stelle ist gerade nicht erreichbar. Warten Sie einen Augenblick und versuchen Sie es erneut, oder brechen Sie ab.',
    },
    linkDead: {
      title: 'Diese Adresse gilt nicht mehr',
      text: 'Eine Adresse für das Telefon gilt einmal, 2 Minuten lang. Sie verfällt auch nach drei falschen Codes, oder wenn Sie am Computer weitermachen. Ihr Computer zeigt, wie es weitergeht.',
    },
    forged: {
      title: 'Wir konnten diese Eingabe nicht annehmen',
      text: 'Sie kam nicht von ihrer eigenen Seite, oder die Seite war zu alt. Nichts hat sich geändert: Bitte versuchen Sie es erneut.',
    },
    notFound: {
      title: 'Diese Seite gibt es nicht',
      text: 'Prüfen Sie die Adresse, oder gehen Sie zur Seite oder App zurück, von der Sie kamen.',
    },
    invalid: {
      title: 'Diese Anfrage funktioniert nicht',
      text: 'Die Seite oder App, die Sie hierher geschickt hat, hat einen Fehler gemacht. Es liegt nicht an Ihnen: Gehen Sie zurück und sagen Sie es dem Betreiber.',
    },
    tooMany: {
      title: 'Zu viele Prüfungen auf einmal',
      text: 'Aus Ihrem Netz wurden innerhalb einer Minute viele Prüfungen begonnen. Warten Sie eine Minute und beginnen Sie dann auf der Seite oder in der App neu, von der Sie kamen.',
    },
    tooManyTries: {
      title: 'Zu viele Versuche',
      text: 'Warten Sie eine Minute und versuchen Sie es dann noch einmal.',
    },
    passkeyRefused: {
      title: 'Ihr Passkey wurde nicht angenommen',
      text: 'Bitte versuchen Sie es noch einmal oder machen Sie ohne ihn weiter.',
    },
    passkeyUnknown: {
      title: 'Wir kennen diesen Passkey nicht',
      text: 'Er wurde entfernt. Bitte machen Sie ohne ihn weiter.',
    },
    passkeyOtherMode: {
      title: 'Dieser Passkey gilt hier nicht',
      text: 'Er wurde im Testmodus einer Seite gespeichert, oder diese Seite ist im Testmodus. Bitte machen Sie ohne ihn weiter.',
    },
    unavailable: {
      title: 'Gerade geht es nicht weiter',
      text: 'Das liegt an uns, nicht an Ihnen. Nichts ist verloren: Warten Sie einen Augenblick und versuchen Sie es erneut.',
    },
  },
};
