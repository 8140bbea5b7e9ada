import type { YourDataMessages } from './en.ts';

export const es: YourDataMessages = {
  title: 'Tus datos',
  signIn: {
    lead: 'Mira qué sitios recibieron qué respuestas sobre ti, y termínalo. Inicias sesión con la llave de acceso que guardaste aquí.',
    button: 'Iniciar sesión con una llave de acceso',
    refused: 'No se aceptó tu llave de acceso. Inténtalo de nuevo.',
    unknown:
      'No conocemos esta llave de acceso. Se eliminó, o se borró todo lo que se guardaba de quien la usaba.',
    trouble:
      'No se ha usado ninguna llave de acceso. Quizá no esté en este dispositivo. Puedes intentarlo de nuevo.',
    ended: 'Tu sesión ha terminado. No se ha cambiado nada. Inicia sesión y pulsa el botón otra vez.',
    without: {
      help: '¿No tienes llave de acceso, o no aparece ningún botón? Pregunta al sitio para el que te verificaste, o escríbenos:',
      alone:
        '¿No tienes llave de acceso, o no aparece ningún botón? Pregunta al sitio para el que te verificaste.',
    },
  },
  off: {
    lead: 'Puedes retirar el permiso en cualquier momento, y hacer que se borre todo sobre ti.',
    help: 'Díselo al sitio para el que te verificaste, o escríbenos:',
    alone: 'Díselo al sitio para el que te verificaste.',
  },
  signedIn: 'Tu sesión dura 15 minutos.',
  signOut: 'Cerrar sesión',
  shared: {
    title: 'Quién recibió qué',
    none: 'Ningún sitio puede leer nada sobre ti.',
    mayRead: (time) => `Lo permitiste el ${time}, y se puede volver a leer:`,
    nothing: 'No se puede leer nada.',
    stopped: (time) => `Dejaste de compartir el ${time}.`,
    got: 'Leído en los últimos 30 días',
    gotNothing: 'No se leyó nada en los últimos 30 días.',
    more: (count) => `Y ${count} más.`,
    stop: (partner) => `Dejar de compartir con ${partner}`,
  },
  kept: {
    title: 'Qué guardamos sobre ti',
    none: 'No guardamos ninguna respuesta sobre ti.',
    yes: 'sí',
    no: 'no',
    unknown: 'no se sabe',
    at: (time) => `verificado el ${time}`,
  },
  passkeys: {
    title: 'Tus llaves de acceso',
    saved: (time) => `Guardada el ${time}`,
    used: (time) => `usada por última vez el ${time}`,
    neverUsed: 'aún sin usar',
    now: 'Has iniciado sesión con esta.',
    synced: 'Está en varios dispositivos',
    remove: 'Eliminar esta llave de acceso',
  },
  erase: {
    title: 'Borrar todo',
    text: 'Olvidamos todas tus respuestas, sitios y llaves de acceso.',
    button: 'Borrar todo',
  },
  stopQuestion: {
    title: (partner) => `¿Dejar de compartir con ${partner}?`,
    points: [
      'Desde ahora el sitio no puede leer nada sobre ti, tampoco lo que podía leer hasta ahora.',
      'Lo que ya recibió se queda allí: pide al sitio que lo borre.',
      'Si te verificas allí de nuevo, te preguntamos antes.',
    ],
    yes: 'Dejar de compartir',
  },
  removeQuestion: {
    title: '¿Eliminar esta llave de acceso?',
    points: [
      'Ya no podrás volver ni iniciar sesión aquí con ella.',
      'Elimínala también en tu dispositivo o gestor de contraseñas.',
    ],
    last: 'Es tu única llave de acceso. Para volver a ver tus datos aquí, tendrás que guardar otra después de una verificación.',
    yes: 'Eliminar la llave de acceso',
  },
  eraseQuestion: {
    title: '¿Borrar todo sobre ti?',
    points: [
      'Borramos tus respuestas, tus llaves de acceso y aquello por lo que los sitios te reconocen aquí. No se puede deshacer.',
      'Los sitios ya no pueden leer nada. Lo que ya recibieron se queda allí: pídeles que lo borren.',
      'Si te verificas de nuevo, serás un usuario nuevo.',
    ],
    yes: 'Borrar todo',
  },
  back: 'Volver a tus datos',
  erased: {
    title: 'Se borró todo',
    text: 'Ya no guardamos nada sobre ti. Elimina también la llave de acceso en tu dispositivo o gestor de contraseñas.',
  },
  held: {
    title: 'Todavía no se puede borrar nada',
    text: 'Por ahora debemos conservar tus datos, porque lo exige una ley o un tribunal. Vuelve a pedirlo más adelante.',
  },
  removed: {
    title: 'Se eliminó la llave de acceso',
    text: 'Se cerró tu sesión. Elimínala también en tu dispositivo o gestor de contraseñas.',
  },
};
