import type { YourDataMessages } from './en.ts';

export const fr: YourDataMessages = {
  title: 'Vos données',
  signIn: {
    lead: 'Voyez quels sites ont reçu quelles réponses à votre sujet, et mettez-y fin. Vous vous connectez avec la clé d’accès que vous avez enregistrée ici.',
    button: 'Se connecter avec une clé d’accès',
    refused: 'Votre clé d’accès n’a pas été acceptée. Veuillez réessayer.',
    unknown:
      'Nous ne connaissons pas cette clé d’accès. Elle a été supprimée, ou tout ce qui concerne son utilisateur a été effacé.',
    trouble:
      'Aucune clé d’accès n’a été utilisée. Elle n’est peut-être pas sur cet appareil. Vous pouvez réessayer.',
    ended:
      'Vous n’êtes plus connecté. Rien n’a été modifié. Connectez-vous, puis appuyez de nouveau sur le bouton.',
    without: {
      help: 'Vous n’avez pas de clé d’accès, ou aucun bouton n’apparaît ? Demandez au site pour lequel vous vous êtes vérifié, ou écrivez-nous :',
      alone:
        'Vous n’avez pas de clé d’accès, ou aucun bouton n’apparaît ? Demandez au site pour lequel vous vous êtes vérifié.',
    },
  },
  off: {
    lead: 'Vous pouvez retirer votre accord à tout moment, et faire effacer tout ce qui vous concerne.',
    help: 'Dites-le au site pour lequel vous vous êtes vérifié, ou écrivez-nous :',
    alone: 'Dites-le au site pour lequel vous vous êtes vérifié.',
  },
  signedIn: 'Vous êtes connecté pour 15 minutes.',
  signOut: 'Se déconnecter',
  shared: {
    title: 'Qui a reçu quoi',
    none: 'Aucun site ne peut lire quoi que ce soit à votre sujet.',
    mayRead: (time) => `Autorisé par vous le ${time}, et lisible à nouveau :`,
    nothing: 'Rien n’est lisible.',
    stopped: (time) => `Vous avez mis fin au partage le ${time}.`,
    got: 'Lu au cours des 30 derniers jours',
    gotNothing: 'Rien n’a été lu au cours des 30 derniers jours.',
    more: (count) => `Et ${count} de plus.`,
    stop: (partner) => `Ne plus rien partager avec ${partner}`,
  },
  kept: {
    title: 'Ce que nous conservons à votre sujet',
    none: 'Nous ne conservons aucune réponse à votre sujet.',
    yes: 'oui',
    no: 'non',
    unknown: 'inconnu',
    at: (time) => `vérifié le ${time}`,
  },
  passkeys: {
    title: 'Vos clés d’accès',
    saved: (time) => `Enregistrée le ${time}`,
    used: (time) => `utilisée en dernier le ${time}`,
    neverUsed: 'pas encore utilisée',
    now: 'Vous vous êtes connecté avec celle-ci.',
    synced: 'Présente sur plusieurs appareils',
    remove: 'Supprimer cette clé d’accès',
  },
  erase: {
    title: 'Tout effacer',
    text: 'Nous oublions toutes vos réponses, tous vos sites et toutes vos clés d’accès.',
    button: 'Tout effacer',
  },
  stopQuestion: {
    title: (partner) => `Ne plus rien partager avec ${partner} ?`,
    points: [
      'Désormais, le site ne peut plus rien lire à votre sujet, même ce qu’il pouvait lire jusqu’ici.',
      'Ce qu’il a déjà reçu y reste : demandez-lui de l’effacer.',
      'Si vous vous y vérifiez à nouveau, nous vous demandons d’abord.',
    ],
    yes: 'Mettre fin au partage',
  },
  removeQuestion: {
    title: 'Supprimer cette clé d’accès ?',
    points: [
      'Vous ne pourrez plus revenir ni vous connecter ici avec elle.',
      'Supprimez-la aussi dans votre appareil ou votre gestionnaire de mots de passe.',
    ],
    last: 'C’est votre seule clé d’accès. Pour revoir vos données ici, vous devrez en enregistrer une autre après une vérification.',
    yes: 'Supprimer la clé d’accès',
  },
  eraseQuestion: {
    title: 'Effacer tout ce qui vous concerne ?',
    points: [
      'Nous effaçons vos réponses, vos clés d’accès et ce par quoi les sites vous reconnaissent ici. C’est irréversible.',
      'Les sites ne peuvent plus rien lire. Ce qu’ils ont déjà reçu y reste : demandez-leur de l’effacer.',
      'Si vous vous vérifiez à nouveau, vous êtes un nouvel utilisateur.',
    ],
    yes: 'Tout effacer',
  },
  back: 'Retour à vos données',
  erased: {
    title: 'Tout a été effacé',
    text: 'Nous ne conservons plus rien à votre sujet. Supprimez aussi la clé d’accès dans votre appareil ou votre gestionnaire de mots de passe.',
  },
  held: {
    title: 'Rien ne peut encore être effacé',
    text: 'Nous devons conserver vos données pour le moment, car une loi ou un tribunal l’exige. Veuillez refaire la demande plus tard.',
  },
  removed: {
    title: 'La clé d’accès a été supprimée',
    text: 'Vous êtes déconnecté. Supprimez-la aussi dans votre appareil ou votre gestionnaire de mots de passe.',
  },
};
