import type { Messages } from './en.ts';

export const fr: Messages = {
  language: 'fr',
  name: 'Français',
  nameLabel: 'Langue',
  direction: 'ltr',
  testMode: { title: 'Mode test :', text: 'seulement pour essayer. Aucun résultat ne compte.' },
  steps: {
    label: 'Progression',
    consent: 'Accord',
    verify: 'Vérification',
    done: 'Terminé',
    confirm: 'Confirmation',
  },
  time: {
    ending: (time) => `Il reste moins de ${time}`,
    consequence: (partner) =>
      `Ensuite, cette vérification se ferme et rien n’est transmis. Vous pourrez recommencer depuis ${partner}.`,
  },
  consent: {
    title: (partner) => `Donner une réponse vérifiée à ${partner} ?`,
    lead: (partner) =>
      `Nous sommes SVC Identity. ${partner} nous demande de confirmer ce qui suit à votre sujet. C’est vous qui décidez si nous le pouvons.`,
    shared: (partner) => `${partner} apprendra`,
    notShared: (partner) => `${partner} n’apprendra pas`,
    withheld: [
      'Votre nom ou votre date de naissance',
      'Votre adresse, e-mail ou téléphone',
      'Vos documents ou des photos de vous',
    ],
    ifKnown: 'si déjà connu',
    unanswered:
      'Cette vérification ne le montre pas : ce n’est transmis que si vous l’avez justifié auparavant',
    number:
      'Un numéro personnel peut aussi vous être demandé : seulement pour vous reconnaître, ni conservé, ni transmis.',
    exactly: 'Quoi exactement, et la suite',
    purpose: {
      title: 'À quoi cela sert',
      own: (partner) => `${partner} indique :`,
      lead: (partner) => `Ces réponses permettent à ${partner} de`,
      uses: {
        age: 'vérifier que vous avez l’âge requis pour ses offres',
        identity: 'savoir qu’une personne réelle et vérifiée fait la demande',
        country: 'respecter les règles de votre pays',
        assurance: 'juger de la fiabilité des réponses',
      },
    },
    keeping: {
      title: 'Durée, et comment retirer votre accord',
      kept: (time) =>
        `Nous gardons les réponses au plus ${time}, et la trace de ce qui a été transmis 30 jours de plus.`,
      again: (partner) =>
        `À votre prochaine vérification, pour ${partner} ou un autre site, nous les réutilisons après vous l’avoir demandé. Tant que nous les gardons, ${partner} peut aussi relire ce que vous autorisez ici.`,
      withdraw: (partner) => `Vous pouvez retirer votre accord à tout moment : dites-le à ${partner}.`,
      help: 'Ou écrivez-nous :',
    },
    next: (host) =>
      `Ensuite, nous le vérifions avec vous, puis vous revenez sur ${host}. Si vous ne l’autorisez pas, vous y revenez maintenant.`,
    accept: 'Autoriser et continuer',
    decline: 'Ne pas autoriser',
  },
  claims: {
    age_16_plus: { title: 'Si vous avez 16 ans ou plus', text: 'Seulement oui ou non, jamais votre âge' },
    age_18_plus: { title: 'Si vous avez 18 ans ou plus', text: 'Seulement oui ou non, jamais votre âge' },
    age_21_plus: { title: 'Si vous avez 21 ans ou plus', text: 'Seulement oui ou non, jamais votre âge' },
    identity_verified: {
      title: 'Que votre identité a été vérifiée',
      text: 'Seulement oui ou non, pas qui vous êtes',
    },
    country: { title: 'Votre pays', text: 'Seulement son code, par exemple DE ou US' },
    assurance_level: { title: 'Le degré de la vérification', text: 'Un niveau de 1 à 3' },
  },
  code: {
    title: 'Un code qui vous désigne',
    text: (partner) => `Seul ${partner} le reçoit, pour vous reconnaître la prochaine fois`,
  },
  people: {
    title: 'Choisissez qui vous êtes',
    lead: (partner) =>
      `En mode test, vous vous connectez comme l’une de ces personnes. Chacune donne à ${partner} un résultat précis.`,
    shared:
      'Ces personnes sont communes à tous ceux qui testent, sauf la nouvelle à chaque essai. Elles n’ont donc ni clé d’accès ni page de données.',
    groups: {
      claims: {
        title: 'Réponses',
        text: 'La vérification réussit et le code s’échange contre ces réponses.',
      },
      failures: {
        title: 'Échecs de la vérification',
        text: 'Le navigateur revient avec une erreur au lieu d’un code.',
      },
      refusals: {
        title: 'Refus de l’échange',
        text: 'La vérification réussit ; l’échange du code est ensuite refusé comme indiqué.',
      },
    },
    names: {
      adult: { title: 'Adulte', text: 'Plus de 21 ans, toutes les réponses positives' },
      'new-adult': { title: 'Nouvel adulte', text: 'Un nouvel utilisateur à chaque essai' },
      'young-adult': { title: 'Jeune adulte', text: '19 ans : 18 ans révolus, pas 21' },
      teen: { title: 'Adolescent', text: '17 ans : 16 ans révolus, pas 18' },
      child: { title: 'Enfant', text: '15 ans : toutes les réponses sur l’âge négatives' },
      abroad: { title: 'De l’étranger', text: 'Un adulte dont le pays est US' },
      'unknown-country': { title: 'Pays inconnu', text: 'Un adulte dont le pays est null' },
      'age-only': {
        title: 'Âge seulement',
        text: 'Sans document : identité non vérifiée, pas de pays, niveau 1',
      },
      biometric: { title: 'Document et visage', text: 'Un adulte vérifié au niveau 3' },
      unknown: { title: 'Rien de connu', text: 'Toutes les réponses sont null' },
      rejected: { title: 'Refusé', text: 'Le document n’est pas accepté' },
      'source-down': { title: 'Source en panne', text: 'La source de vérification ne répond pas' },
      duplicate: { title: 'Doublon', text: '403, connu sous une autre identité : inscription bloquée' },
      'client-inactive': { title: 'Client inactif', text: '403, le client n’est pas actif' },
      'low-balance': { title: 'Solde insuffisant', text: '402, le solde ne suffit pas' },
      'minute-cap': { title: 'Plafond minute', text: '429, le plafond de cette minute est atteint' },
      'hour-cap': { title: 'Plafond horaire', text: '429, le plafond de cette heure est atteint' },
      unavailable: { title: 'Indisponible', text: '503, les plafonds ne peuvent être contrôlés' },
    },
  },
  methods: {
    title: 'Comment voulez-vous le justifier ?',
    lead: 'Choisissez un moyen. Si cela ne marche pas, vous pouvez en choisir un autre.',
    people: { title: 'Personnes de test', text: 'Des personnes inventées, pour essayer' },
    provider: (source) => `Vous vous connectez sur le site de ${source}`,
    identityWallet: 'Il vous faut son appli, sur votre téléphone ou dans ce navigateur',
    down: 'Indisponible pour le moment',
    ended: {
      abandoned: (source) =>
        `Vous avez arrêté avec ${source}. Rien n’a été transmis. Choisissez à nouveau, ou annulez.`,
      document_rejected: (source) =>
        `${source} : ce qui a été présenté n’a pas pu être accepté. Rien n’a été transmis. Choisissez un autre moyen.`,
      source_error: (source) =>
        `${source} n’a pas donné de réponse utilisable. Rien n’a été transmis. Choisissez un autre moyen.`,
    },
    other: 'Choisir un autre moyen',
  },
  provider: {
    title: (source) => `Vérification avec ${source}`,
    lead: (source, partner) =>
      `${source} vérifie qui vous êtes et nous le dit. Nous ne transmettons à ${partner} que ce que vous venez d’autoriser.`,
    points: [
      (source) => `Vous vous connectez sur le site de ${source}. Nous ne voyons jamais votre mot de passe.`,
      (source, partner) => `${source} n’apprend pas que c’est pour ${partner}.`,
      () => 'Nous gardons les réponses, pas les données qui les fondent.',
    ],
    go: (source) => `Continuer vers ${source}`,
  },
  identityWallet: {
    title: (source) => `Justifier avec ${source}`,
    lead: (source, partner) =>
      `${source} nous montre ce que ${partner} demande. Dans l’application, vous voyez tout avant d’accepter.`,
    open: (source) => `Ouvrir ${source}`,
    digital: 'Choisir un portefeuille d’identité dans ce navigateur',
    absent: {
      computer:
        'L’application est sur votre téléphone ? Continuez là-bas. Sur cet ordinateur, elle ne s’ouvre que si elle y est installée.',
      phone:
        'Rien ne se passe ? L’application n’est alors pas sur cet appareil. Installez l’application de votre pays et revenez, ou annulez.',
    },
    declined: {
      title: 'Vous avez refusé dans votre portefeuille d’identité.',
      text: 'Rien n’a été transmis. Vous pouvez réessayer ou annuler.',
    },
    trouble: {
      title: 'Votre portefeuille d’identité n’a pas pu répondre.',
      text: 'Il ne contient peut-être pas ce qui est demandé. Rien n’a été transmis. Vous pouvez réessayer ou annuler.',
    },
    answered: {
      title: 'Votre portefeuille d’identité a répondu.',
      text: 'Il vous ramène dans ce navigateur. S’il en a ouvert un autre, ouvrez-le encore une fois d’ici.',
    },
    test: {
      title: 'Portefeuille d’identité de test',
      text: 'En mode test, vous pouvez tout essayer avec des personnes fictives.',
      button: 'Ouvrir le portefeuille d’identité de test',
    },
  },
  passkey: {
    use: 'Autoriser, avec une clé d’accès',
    title: 'La prochaine fois, avec votre empreinte, votre visage ou votre code ?',
    lead: 'Enregistrez une clé d’accès sur cet appareil. La prochaine fois, un geste suffira, ici et sur les autres sites qui interrogent SVC Identity.',
    kept: (time) =>
      `Nous conservons vos réponses avec elle jusqu’à ${time} : aucun document, aucune photo de vous.`,
    points: [
      'Votre empreinte et votre visage ne quittent jamais votre appareil.',
      'Toute personne qui peut déverrouiller cet appareil peut utiliser la clé.',
    ],
    save: 'Enregistrer une clé d’accès',
    later: 'Pas maintenant',
    trouble: {
      use: 'Aucune clé d’accès n’a été utilisée. Elle n’est peut-être pas sur cet appareil. Réessayez, ou choisissez « Autoriser et continuer ».',
      save: 'Aucune clé d’accès n’a été enregistrée. Réessayez, ou choisissez « Pas maintenant ».',
    },
  },
  handoff: {
    offer: {
      title: 'Préférez-vous utiliser votre téléphone ?',
      text: 'Vérifiez-vous là-bas, puis revenez sur cette page.',
      button: 'Continuer sur mon téléphone',
    },
    title: 'Continuez sur votre téléphone',
    lead: 'Gardez cette page ouverte. Elle avancera d’elle-même quand vous aurez terminé sur le téléphone.',
    scan: 'Scannez ceci avec l’appareil photo du téléphone',
    local: {
      title: 'Ouvrez cette adresse dans un autre navigateur',
      text: 'Il n’y a pas de code QR : le service fonctionne sur localhost, et un téléphone ne peut pas ouvrir cette adresse.',
    },
    link: 'Ou ouvrez-y cette adresse',
    code: 'Saisissez ensuite ce code sur le téléphone',
    codeText:
      'Ne le donnez à personne. Nous ne le demandons jamais par téléphone, par e-mail ou par messagerie.',
    lifetime: 'L’adresse et le code servent une seule fois, pendant 2 minutes.',
    stay: 'Continuer plutôt sur cet ordinateur',
    expired: {
      title: 'Cette adresse a expiré',
      text: 'Les adresses pour le téléphone durent 2 minutes. Créez-en une nouvelle ou continuez ici.',
      button: 'Créer une nouvelle adresse',
    },
    noneLeft:
      'Cette vérification a déjà eu ses dix adresses pour le téléphone. Continuez sur cet ordinateur, ou annulez et recommencez.',
    mistyped:
      'Trois codes erronés ont été saisis : l’adresse pour le téléphone ne fonctionne plus. Rien n’a été transmis.',
    taken: {
      title: 'Continuez maintenant sur votre téléphone',
      text: (phone) => `Ouvert dans ${phone}. Gardez cette page ouverte : elle avancera d’elle-même.`,
    },
  },
  phone: {
    title: (partner) => `Vérification pour ${partner}`,
    lead: (partner, computer) =>
      `${partner} nous demande de confirmer ce qui suit à votre sujet. La demande a été commencée dans ${computer}.`,
    warning:
      'Ne continuez que si vous l’avez commencée vous-même et si cet écran est devant vous. Si quelqu’un vous a envoyé cette adresse, fermez la page.',
    code: 'Code affiché sur cet écran',
    codeHint: 'Six chiffres, à côté de l’adresse que vous avez ouverte',
    wrong: 'Ce n’est pas le code. Après trois codes erronés, l’adresse ne fonctionne plus.',
    submit: 'Continuer',
    confirm: {
      title: 'Est-ce votre ordinateur ?',
      lead: (partner) =>
        `Vous vous êtes connecté. Rien n’a encore été transmis. Les réponses pour ${partner} iront à cet ordinateur :`,
      began: 'Commencé :',
      warning:
        'Si vous ne l’avez pas sous les yeux, quelqu’un essaie peut-être de se faire passer pour vous : choisissez Non.',
      yes: 'Oui, c’est mon ordinateur',
      no: 'Non, arrêter ici',
    },
    done: { title: 'Terminé', text: 'Continuez sur votre ordinateur. Vous pouvez fermer cette page.' },
    ended: {
      title: 'Cette vérification a pris fin',
      text: 'Votre ordinateur indique la suite. Vous pouvez fermer cette page.',
    },
  },
  devices: {
    named: (browser, system) => `${browser} sous ${system}`,
    browser: 'un navigateur',
    system: 'un système inconnu',
  },
  done: {
    title: 'Terminé',
    text: (partner) => `Vous retournez chez ${partner}.`,
    stopped: 'Non vérifié',
    go: (partner) => `Continuer vers ${partner}`,
  },
  cancel: (partner) => `Annuler et revenir à ${partner}`,
  yourData: 'Voir ce que vous partagez, et y mettre fin',
  footer: 'Nous gardons les réponses, jamais vos documents.',
  legal: {
    by: (name) => `Un service de ${name}`,
    privacy: 'Protection des données',
    privacyOf: (partner) => `Protection des données chez ${partner}`,
    terms: 'Conditions d’utilisation',
    help: 'Aide',
  },
  reference: 'Si vous demandez de l’aide, indiquez cette référence :',
  retry: 'Réessayer',
  withoutPasskey: 'Continuer sans la clé d’accès',
  back: (host) => `Revenir à ${host}`,
  developer: 'Pour le développeur de l’application',
  outcome: {
    nothingShared: 'Rien n’a été transmis à votre sujet.',
    nothingHere: 'Rien n’a été transmis depuis ce navigateur.',
    signedIn: (partner) =>
      `Aucune des réponses n’a été transmise. ${partner} a reçu le code qui vous y désigne, et a appris que vous vous êtes connecté et que la vérification a pris fin.`,
    answersShared: (partner) => `${partner} a pu lire ce que vous avez autorisé, et rien d’autre.`,
  },
  problems: {
    expired: {
      title: 'Cette vérification a expiré',
      text: 'Une vérification reste ouverte 30 minutes. Retournez sur le site ou dans l’application d’où vous venez et recommencez.',
    },
    otherBrowser: {
      title: 'Continuez dans le navigateur où vous avez commencé',
      text: 'Cette vérification appartient à un autre navigateur ou appareil, ou elle a expiré. Ouvrez-la là-bas, ou recommencez depuis le site ou l’application d’où vous venez. Si vous avez commencé dans ce navigateur, autorisez les cookies de ce site.',
    },
    finished: {
      title: 'Cette vérification est déjà terminée',
      text: 'Il n’y a plus rien à faire ici. Vous pouvez fermer cette page.',
    },
    cancelled: {
      title: 'Cette vérification a été annulée',
      text: 'Il n’y a plus rien à faire ici. Vous pouvez recommencer depuis le site ou l’application d’où vous venez.',
    },
    declined: {
      title: 'Vous ne l’avez pas autorisé',
      text: 'Rien ne se fait sans votre autorisation. Si vous changez d’avis, recommencez depuis le site ou l’application d’où vous venez.',
    },
    rejected: {
      title: 'La vérification n’a pas abouti',
      text: 'Ce qui a été présenté n’a pu être accepté. Vous pouvez réessayer avec un autre document, depuis le site ou l’application d’où vous venez.',
    },
    sourceFailed: {
      title: 'La vérification n’a pu être achevée',
      text: 'Le service qui vérifie les identités n’a pas donné de réponse utilisable. Recommencez depuis le site ou l’application d’où vous venez.',
    },
    sourceDown: {
      title: 'Le service de vérification ne répond pas',
      text: 'Le service qui vérifie les identités est injoignable pour l’instant. Attendez un moment et réessayez, ou annulez.',
    },
    linkDead: {
      title: 'Cette adresse ne fonctionne plus',
      text: 'Une adresse pour le téléphone sert une seule fois, pendant 2 minutes. Elle cesse aussi de fonctionner après trois codes erronés, ou si vous continuez sur l’ordinateur. Votre ordinateur indique la suite.',
    },
    forged: {
      title: 'Nous n’avons pas pu accepter ce formulaire',
      text: 'Il ne venait pas de sa propre page, ou la page était trop ancienne. Rien n’a changé : veuillez réessayer.',
    },
    notFound: {
      title: 'Cette page n’existe pas',
      text: 'Vérifiez l’adresse, ou retournez sur le site ou dans l’application d’où vous venez.',
    },
    invalid: {
      title: 'Cette demande ne fonctionne pas',
      text: 'Le site ou l’application qui vous a envoyé ici a commis une erreur. Vous n’y êtes pour rien : revenez en arrière et prévenez son exploitant.',
    },
    tooMany: {
      title: 'Trop de vérifications à la fois',
      text: 'De nombreuses vérifications ont été commencées depuis votre réseau en une minute. Attendez une minute, puis recommencez depuis le site ou l’application d’où vous venez.',
    },
    tooManyTries: { title: 'Trop de tentatives', text: 'Attendez une minute, puis réessayez.' },
    passkeyRefused: {
      title: 'Votre clé d’accès n’a pas été acceptée',
      text: 'Veuillez réessayer, ou continuer sans elle.',
    },
    passkeyUnknown: {
      title: 'Nous ne connaissons pas cette clé d’accès',
      text: 'Elle a été supprimée. Veuillez continuer sans elle.',
    },
    passkeyOtherMode: {
      title: 'Cette clé d’accès ne vaut pas ici',
      text: 'Elle a été enregistrée dans le mode test d’un site, ou cette page est en mode test. Veuillez continuer sans elle.',
    },
    unavailable: {
      title: 'Nous ne pouvons pas continuer pour l’instant',
      text: 'C’est notre faute, pas la vôtre. Rien n’est perdu : attendez un moment et réessayez.',
    },
  },
};
