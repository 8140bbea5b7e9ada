import type { Act, HolderName } from '../../identity-wallet/port.ts';
import type { Language } from '../../sessions/language.ts';

/** The texts of the page in English. A language without one of them does not compile. */
const en = {
  title: 'Test identity wallet',
  mode: {
    title: 'Test mode',
    text: 'These people are made up. Their attestations count for test clients only.',
  },
  /** The title above the request. */
  ask: 'Show this?',
  /** The sentence about the request, in two parts. Between them stands the host that asks, in markup of its own. */
  asks: ['The request of', 'asks for one of these.'] as [beforeHost: string, afterHost: string],
  attestation: 'Attestation',
  /** In place of claims, if the request asks for none. */
  nothing: 'the attestation itself, without a claim',
  person: 'Person',
  people: {
    adult: 'Adult, born in 1990',
    'young-adult': 'Young adult, 19',
    minor: 'Minor, 14',
  } satisfies Record<HolderName, string>,
  present: 'Present',
  refuse: 'Refuse',
  bad: {
    title: 'Faulty presentations',
    text: 'Each of these has to be refused.',
    acts: {
      expired: 'Expired attestation',
      'not-yet-valid': 'Not yet valid',
      'unknown-issuer': 'Unknown issuer',
      revoked: 'Revoked attestation',
      'wrong-nonce': 'Wrong nonce',
      'wrong-audience': 'Wrong audience',
      replay: 'Replay of another presentation',
      'too-much': 'More than was asked for',
    } satisfies Record<Exclude<Act, 'present' | 'refuse'>, string>,
  },
  fault: 'The test identity wallet cannot answer',
  /** Why a request cannot be answered. `closed`: it was answered or has expired. `foreign`: of another service. */
  faults: {
    closed: 'The request is no longer open.',
    foreign: 'The test identity wallet answers requests of this service only.',
    unreadable: 'This is not a request to an identity wallet.',
  },
};

/** The texts in one language. */
export type TestIdentityWalletMessages = typeof en;

export const testIdentityWalletMessages: Record<Language, TestIdentityWalletMessages> = {
  en,
  de: {
    title: 'Test-Identitäts-Wallet',
    mode: {
      title: 'Testmodus',
      text: 'Diese Personen sind erfunden. Ihre Nachweise gelten nur für Test-Clients.',
    },
    ask: 'Das zeigen?',
    asks: ['Die Anfrage von', 'verlangt eines davon.'],
    attestation: 'Nachweis',
    nothing: 'den Nachweis selbst, ohne eine Angabe',
    person: 'Person',
    people: {
      adult: 'Erwachsen, geboren 1990',
      'young-adult': 'Jung und erwachsen, 19',
      minor: 'Minderjährig, 14',
    },
    present: 'Zeigen',
    refuse: 'Ablehnen',
    bad: {
      title: 'Fehlerhafte Vorlagen',
      text: 'Jede davon muss abgelehnt werden.',
      acts: {
        expired: 'Abgelaufener Nachweis',
        'not-yet-valid': 'Noch nicht gültig',
        'unknown-issuer': 'Unbekannter Aussteller',
        revoked: 'Widerrufener Nachweis',
        'wrong-nonce': 'Falsche Nonce',
        'wrong-audience': 'Falscher Empfänger',
        replay: 'Wiederholung einer anderen Vorlage',
        'too-much': 'Mehr als verlangt',
      },
    },
    fault: 'Die Test-Identitäts-Wallet kann nicht antworten',
    faults: {
      closed: 'Die Anfrage ist nicht mehr offen.',
      foreign: 'Die Test-Identitäts-Wallet beantwortet nur Anfragen dieses Dienstes.',
      unreadable: 'Das ist keine Anfrage an eine Identitäts-Wallet.',
    },
  },
  fr: {
    title: 'Portefeuille d’identité de test',
    mode: {
      title: 'Mode test',
      text: 'Ces personnes sont fictives. Leurs attestations ne comptent que pour les clients de test.',
    },
    ask: 'Montrer ceci ?',
    asks: ['La demande de', 'porte sur l’un de ces éléments.'],
    attestation: 'Attestation',
    nothing: 'l’attestation elle-même, sans autre donnée',
    person: 'Personne',
    people: { adult: 'Adulte, née en 1990', 'young-adult': 'Jeune adulte, 19 ans', minor: 'Mineure, 14 ans' },
    present: 'Présenter',
    refuse: 'Refuser',
    bad: {
      title: 'Présentations erronées',
      text: 'Chacune doit être refusée.',
      acts: {
        expired: 'Attestation expirée',
        'not-yet-valid': 'Pas encore valable',
        'unknown-issuer': 'Émetteur inconnu',
        revoked: 'Attestation révoquée',
        'wrong-nonce': 'Nonce erroné',
        'wrong-audience': 'Destinataire erroné',
        replay: 'Répétition d’une autre présentation',
        'too-much': 'Plus que demandé',
      },
    },
    fault: 'Le portefeuille d’identité de test ne peut pas répondre',
    faults: {
      closed: 'La demande n’est plus ouverte.',
      foreign: 'Le portefeuille d’identité de test ne répond qu’aux demandes de ce service.',
      unreadable: 'Ce n’est pas une demande à un portefeuille d’identité.',
    },
  },
  es: {
    title: 'Cartera de identidad de prueba',
    mode: {
      title: 'Modo de prueba',
      text: 'Estas personas son inventadas. Sus atestaciones solo valen para clientes de prueba.',
    },
    ask: '¿Mostrar esto?',
    asks: ['La solicitud de', 'pide una de estas.'],
    attestation: 'Atestación',
    nothing: 'la propia atestación, sin ningún dato',
    person: 'Persona',
    people: { adult: 'Adulta, nacida en 1990', 'young-adult': 'Adulta joven, 19', minor: 'Menor, 14' },
    present: 'Presentar',
    refuse: 'Rechazar',
    bad: {
      title: 'Presentaciones erróneas',
      text: 'Cada una debe rechazarse.',
      acts: {
        expired: 'Atestación caducada',
        'not-yet-valid': 'Todavía no válida',
        'unknown-issuer': 'Emisor desconocido',
        revoked: 'Atestación revocada',
        'wrong-nonce': 'Nonce incorrecto',
        'wrong-audience': 'Destinatario incorrecto',
        replay: 'Repetición de otra presentación',
        'too-much': 'Más de lo pedido',
      },
    },
    fault: 'La cartera de identidad de prueba no puede responder',
    faults: {
      closed: 'La solicitud ya no está abierta.',
      foreign: 'La cartera de identidad de prueba solo responde a solicitudes de este servicio.',
      unreadable: 'Esto no es una solicitud a una cartera de identidad.',
    },
  },
  ar: {
    title: 'محفظة هوية تجريبية',
    mode: { title: 'وضع الاختبار', text: 'هؤلاء الأشخاص غير حقيقيين. شهاداتهم صالحة لعملاء الاختبار فقط.' },
    ask: 'هل تعرض هذا؟',
    asks: ['طلب', 'يسأل عن واحدة من هذه.'],
    attestation: 'الشهادة',
    nothing: 'الشهادة نفسها دون أي معلومة',
    person: 'الشخص',
    people: { adult: 'بالغ، مواليد 1990', 'young-adult': 'شاب بالغ، 19', minor: 'قاصر، 14' },
    present: 'عرض',
    refuse: 'رفض',
    bad: {
      title: 'عروض خاطئة',
      text: 'يجب رفض كل واحد منها.',
      acts: {
        expired: 'شهادة منتهية',
        'not-yet-valid': 'لم تصبح صالحة بعد',
        'unknown-issuer': 'جهة إصدار غير معروفة',
        revoked: 'شهادة ملغاة',
        'wrong-nonce': 'رقم عشوائي خاطئ',
        'wrong-audience': 'مستلم خاطئ',
        replay: 'تكرار عرض آخر',
        'too-much': 'أكثر مما طُلب',
      },
    },
    fault: 'لا تستطيع محفظة الهوية التجريبية الرد',
    faults: {
      closed: 'لم يعد الطلب مفتوحًا.',
      foreign: 'تجيب محفظة الهوية التجريبية عن طلبات هذه الخدمة فقط.',
      unreadable: 'هذا ليس طلبًا موجهًا إلى محفظة هوية.',
    },
  },
};
