import type { Messages } from './en.ts';

export const es: Messages = {
  language: 'es',
  name: 'Español',
  nameLabel: 'Idioma',
  direction: 'ltr',
  testMode: { title: 'Modo de prueba:', text: 'solo para probar. Ningún resultado cuenta.' },
  steps: {
    label: 'Progreso',
    consent: 'Permiso',
    verify: 'Verificación',
    done: 'Listo',
    confirm: 'Confirmación',
  },
  time: {
    ending: (time) => `Tiempo restante: menos de ${time}`,
    consequence: (partner) =>
      `Después se cierra esta verificación y no se comparte nada. Puedes empezar de nuevo desde ${partner}.`,
  },
  consent: {
    title: (partner) => `¿Compartir una respuesta verificada con ${partner}?`,
    lead: (partner) =>
      `Somos SVC Identity. ${partner} nos pide confirmar lo siguiente sobre ti. Tú decides si podemos hacerlo.`,
    shared: (partner) => `${partner} sabrá`,
    notShared: (partner) => `${partner} no sabrá`,
    withheld: [
      'Tu nombre ni tu fecha de nacimiento',
      'Tu dirección, correo ni teléfono',
      'Tus documentos ni imágenes tuyas',
    ],
    ifKnown: 'si ya se sabe',
    unanswered: 'Esta verificación no lo muestra: solo se comparte si lo demostraste antes',
    number:
      'Puede que también se pida un número personal: solo para reconocerte, no se guarda ni se comparte.',
    exactly: 'Qué exactamente, y qué sigue',
    purpose: {
      title: 'Para qué sirve',
      own: (partner) => `${partner} indica:`,
      lead: (partner) => `Con estas respuestas, ${partner} puede`,
      uses: {
        age: 'comprobar que tienes la edad necesaria para lo que ofrece',
        identity: 'saber que la solicitud es de una persona real y verificada',
        country: 'cumplir las normas de tu país',
        assurance: 'valorar hasta qué punto puede fiarse de las respuestas',
      },
    },
    keeping: {
      title: 'Duración, y cómo retirar el permiso',
      kept: (time) =>
        `Guardamos las respuestas como máximo ${time}, y el registro de lo compartido 30 días más.`,
      again: (partner) =>
        `La próxima vez que te verifiques, para ${partner} o para otro sitio, las usamos de nuevo y te preguntamos antes. Mientras las guardamos, ${partner} también puede volver a leer lo que permites aquí.`,
      withdraw: (partner) => `Puedes retirar el permiso en cualquier momento: díselo a ${partner}.`,
      help: 'O escríbenos:',
    },
    next: (host) =>
      `A continuación lo verificamos contigo y después vuelves a ${host}. Si no lo permites, vuelves allí ahora.`,
    accept: 'Permitir y continuar',
    decline: 'No permitir',
  },
  claims: {
    age_16_plus: { title: 'Si tienes 16 años o más', text: 'Solo sí o no, nunca tu edad' },
    age_18_plus: { title: 'Si tienes 18 años o más', text: 'Solo sí o no, nunca tu edad' },
    age_21_plus: { title: 'Si tienes 21 años o más', text: 'Solo sí o no, nunca tu edad' },
    identity_verified: { title: 'Que tu identidad se ha verificado', text: 'Solo sí o no, no quién eres' },
    country: { title: 'Tu país', text: 'Solo su código, por ejemplo DE o US' },
    assurance_level: { title: 'Lo rigurosa que fue la verificación', text: 'Un nivel del 1 al 3' },
  },
  code: {
    title: 'Un código que te representa',
    text: (partner) => `Solo ${partner} lo recibe, para reconocerte la próxima vez`,
  },
  people: {
    title: 'Elige quién quieres ser',
    lead: (partner) =>
      `En el modo de prueba entras como una de estas personas. Cada una da a ${partner} un resultado concreto.`,
    shared:
      'Todos los que prueban comparten estas personas, salvo la que es nueva cada vez. Por eso no tienen llave de acceso ni página de datos propios.',
    groups: {
      claims: {
        title: 'Respuestas',
        text: 'La verificación se supera y el código se canjea por estas respuestas.',
      },
      failures: {
        title: 'Fallos de la verificación',
        text: 'El navegador vuelve con un error en lugar de un código.',
      },
      refusals: {
        title: 'Rechazos del canje',
        text: 'La verificación se supera; después, el canje del código se rechaza como se describe.',
      },
    },
    names: {
      adult: { title: 'Adulto', text: 'Mayor de 21, todas las respuestas positivas' },
      'new-adult': { title: 'Adulto nuevo', text: 'Un usuario nuevo en cada prueba' },
      'young-adult': { title: 'Adulto joven', text: '19 años: 18 o más, no 21' },
      teen: { title: 'Adolescente', text: '17 años: 16 o más, no 18' },
      child: { title: 'Menor', text: '15 años: todas las respuestas sobre la edad negativas' },
      abroad: { title: 'Del extranjero', text: 'Un adulto cuyo país es US' },
      'unknown-country': { title: 'País desconocido', text: 'Un adulto cuyo país es null' },
      'age-only': {
        title: 'Solo la edad',
        text: 'Sin documento: identidad no verificada, sin país, nivel 1',
      },
      biometric: { title: 'Documento y rostro', text: 'Un adulto verificado en el nivel 3' },
      unknown: { title: 'Nada conocido', text: 'Todas las respuestas son null' },
      rejected: { title: 'Rechazado', text: 'El documento no se acepta' },
      'source-down': { title: 'Fuente caída', text: 'La fuente de verificación no responde' },
      duplicate: { title: 'Duplicado', text: '403, conocido con otra identidad: la inscripción se bloquea' },
      'client-inactive': { title: 'Cliente inactivo', text: '403, el cliente no está activo' },
      'low-balance': { title: 'Saldo bajo', text: '402, el saldo no alcanza' },
      'minute-cap': { title: 'Límite por minuto', text: '429, se alcanzó el límite de gasto de este minuto' },
      'hour-cap': { title: 'Límite por hora', text: '429, se alcanzó el límite de gasto de esta hora' },
      unavailable: { title: 'No disponible', text: '503, los límites de gasto no se pueden comprobar' },
    },
  },
  methods: {
    title: '¿Cómo quieres demostrarlo?',
    lead: 'Elige una forma. Si no funciona, puedes elegir otra.',
    people: { title: 'Personas de prueba', text: 'Personas inventadas, para probar' },
    provider: (source) => `Inicias sesión en el sitio de ${source}`,
    identityWallet: 'Necesitas su app, en tu teléfono o en este navegador',
    down: 'No disponible ahora',
    ended: {
      abandoned: (source) => `Has parado con ${source}. No se ha compartido nada. Elige otra vez, o cancela.`,
      document_rejected: (source) =>
        `${source}: lo presentado no se ha podido aceptar. No se ha compartido nada. Elige otra forma.`,
      source_error: (source) =>
        `${source} no ha dado una respuesta válida. No se ha compartido nada. Elige otra forma.`,
    },
    other: 'Usar otra forma',
  },
  provider: {
    title: (source) => `Verifícate con ${source}`,
    lead: (source, partner) =>
      `${source} comprueba quién eres y nos lo dice. A ${partner} solo le pasamos lo que acabas de permitir.`,
    points: [
      (source) => `Entras en el sitio de ${source}. Nunca vemos tu contraseña.`,
      (source, partner) => `${source} no sabe que es para ${partner}.`,
      () => 'Guardamos las respuestas, no los datos que hay detrás.',
    ],
    go: (source) => `Continuar a ${source}`,
  },
  identityWallet: {
    title: (source) => `Demuéstralo con ${source}`,
    lead: (source, partner) =>
      `${source} nos muestra lo que pide ${partner}. En la aplicación lo ves todo antes de aceptar.`,
    open: (source) => `Abrir ${source}`,
    digital: 'Elegir una cartera de identidad en este navegador',
    absent: {
      computer:
        '¿La aplicación está en tu teléfono? Sigue allí. En este ordenador solo se abre si está instalada aquí.',
      phone:
        '¿No pasa nada? Entonces la aplicación no está en este dispositivo. Instala la aplicación de tu país y vuelve, o cancela.',
    },
    declined: {
      title: 'Has dicho que no en tu cartera de identidad.',
      text: 'No se ha compartido nada. Puedes intentarlo de nuevo o cancelar.',
    },
    trouble: {
      title: 'Tu cartera de identidad no ha podido responder.',
      text: 'Quizá no contenga lo que se pide. No se ha compartido nada. Puedes intentarlo de nuevo o cancelar.',
    },
    answered: {
      title: 'Tu cartera de identidad ha respondido.',
      text: 'Te devuelve a este navegador. Si ha abierto otro, abre la cartera de identidad otra vez desde aquí.',
    },
    test: {
      title: 'Cartera de identidad de prueba',
      text: 'En el modo de prueba puedes probarlo todo con personas inventadas.',
      button: 'Abrir la cartera de identidad de prueba',
    },
  },
  passkey: {
    use: 'Permitir, con una llave de acceso',
    title: 'La próxima vez, ¿con tu huella, tu cara o tu PIN?',
    lead: 'Guarda una llave de acceso en este dispositivo. La próxima vez bastará un toque, aquí y en otros sitios que consultan a SVC Identity.',
    kept: (time) => `Con ella guardamos tus respuestas hasta ${time}: ningún documento ni ninguna foto tuya.`,
    points: [
      'Tu huella y tu cara nunca salen de tu dispositivo.',
      'Quien pueda desbloquear este dispositivo puede usar la llave.',
    ],
    save: 'Guardar una llave de acceso',
    later: 'Ahora no',
    trouble: {
      use: 'No se ha usado ninguna llave de acceso. Quizá no esté en este dispositivo. Inténtalo de nuevo o elige «Permitir y continuar».',
      save: 'No se ha guardado ninguna llave de acceso. Inténtalo de nuevo o elige «Ahora no».',
    },
  },
  handoff: {
    offer: {
      title: '¿Prefieres usar tu teléfono?',
      text: 'Verifícate allí y vuelve a esta página.',
      button: 'Continuar en mi teléfono',
    },
    title: 'Continúa en tu teléfono',
    lead: 'Deja abierta esta página. Seguirá por sí sola cuando termines en el teléfono.',
    scan: 'Escanea esto con la cámara del teléfono',
    local: {
      title: 'Abre esta dirección en otro navegador',
      text: 'No hay código QR: el servicio funciona en localhost y un teléfono no puede abrir esta dirección.',
    },
    link: 'O abre allí esta dirección',
    code: 'Después escribe este código en el teléfono',
    codeText: 'No se lo des a nadie. Nunca lo pedimos por teléfono, correo ni chat.',
    lifetime: 'La dirección y el código sirven una vez, durante 2 minutos.',
    stay: 'Continuar mejor en este ordenador',
    expired: {
      title: 'Esta dirección ha caducado',
      text: 'Las direcciones para el teléfono duran 2 minutos. Crea una nueva o continúa aquí.',
      button: 'Crear una nueva',
    },
    noneLeft:
      'Esta verificación ya ha tenido sus diez direcciones para el teléfono. Continúa en este ordenador, o cancela y empieza de nuevo.',
    mistyped:
      'Se han escrito tres códigos erróneos, así que la dirección para el teléfono ya no sirve. No se ha compartido nada.',
    taken: {
      title: 'Continúa ahora en tu teléfono',
      text: (phone) => `Abierto en ${phone}. Deja abierta esta página: seguirá por sí sola.`,
    },
  },
  phone: {
    title: (partner) => `Verificación para ${partner}`,
    lead: (partner, computer) =>
      `${partner} nos pide confirmar lo siguiente sobre ti. La solicitud se inició en ${computer}.`,
    warning:
      'Sigue solo si la iniciaste tú y tienes esa pantalla delante. Si alguien te envió esta dirección, cierra la página.',
    code: 'Código de esa pantalla',
    codeHint: 'Seis cifras, junto a la dirección que abriste',
    wrong: 'Ese no es el código. Tras tres códigos erróneos, la dirección deja de servir.',
    submit: 'Continuar',
    confirm: {
      title: '¿Es este tu ordenador?',
      lead: (partner) =>
        `Has iniciado sesión. Todavía no se ha compartido nada. Las respuestas para ${partner} irán a este ordenador:`,
      began: 'Iniciado:',
      warning: 'Si no lo tienes delante, puede que alguien intente hacerse pasar por ti: elige No.',
      yes: 'Sí, es mi ordenador',
      no: 'No, detener aquí',
    },
    done: { title: 'Listo', text: 'Sigue en tu ordenador. Puedes cerrar esta página.' },
    ended: {
      title: 'Esta verificación ha terminado',
      text: 'Tu ordenador indica cómo seguir. Puedes cerrar esta página.',
    },
  },
  devices: {
    named: (browser, system) => `${browser} en ${system}`,
    browser: 'un navegador',
    system: 'un sistema desconocido',
  },
  done: {
    title: 'Listo',
    text: (partner) => `Vuelves a ${partner}.`,
    stopped: 'Sin verificar',
    go: (partner) => `Continuar a ${partner}`,
  },
  cancel: (partner) => `Cancelar y volver a ${partner}`,
  yourData: 'Ver lo que compartes, y terminarlo',
  footer: 'Guardamos las respuestas, nunca tus documentos.',
  legal: {
    by: (name) => `Un servicio de ${name}`,
    privacy: 'Aviso de privacidad',
    privacyOf: (partner) => `Aviso de privacidad de ${partner}`,
    terms: 'Condiciones',
    help: 'Ayuda',
  },
  reference: 'Si pides ayuda, indica esta referencia:',
  retry: 'Intentar de nuevo',
  withoutPasskey: 'Continuar sin la llave de acceso',
  back: (host) => `Volver a ${host}`,
  developer: 'Para quien desarrolla la aplicación',
  outcome: {
    nothingShared: 'No se ha compartido nada sobre ti.',
    nothingHere: 'No se ha compartido nada desde este navegador.',
    signedIn: (partner) =>
      `No se ha compartido ninguna de las respuestas. ${partner} ha recibido el código que te representa allí, y ha sabido que has iniciado sesión y que la verificación ha terminado.`,
    answersShared: (partner) => `${partner} pudo leer lo que permitiste, y nada más.`,
  },
  problems: {
    expired: {
      title: 'Esta verificación ha caducado',
      text: 'Una verificación permanece abierta 30 minutos. Vuelve al sitio o la aplicación de donde vienes y empieza de nuevo.',
    },
    otherBrowser: {
      title: 'Continúa en el navegador donde empezaste',
      text: 'Esta verificación es de otro navegador o dispositivo, o ha caducado. Ábrela allí, o empieza de nuevo desde el sitio o la aplicación de donde vienes. Si empezaste en este navegador, permite las cookies de este sitio.',
    },
    finished: {
      title: 'Esta verificación ya ha terminado',
      text: 'Aquí no queda nada por hacer. Puedes cerrar esta página.',
    },
    cancelled: {
      title: 'Esta verificación se canceló',
      text: 'Aquí no queda nada por hacer. Puedes empezar de nuevo desde el sitio o la aplicación de donde vienes.',
    },
    declined: {
      title: 'No lo permitiste',
      text: 'No ocurre nada sin tu permiso. Si cambias de opinión, empieza de nuevo desde el sitio o la aplicación de donde vienes.',
    },
    rejected: {
      title: 'La verificación no se superó',
      text: 'Lo presentado no se pudo aceptar. Puedes intentarlo con otro documento, desde el sitio o la aplicación de donde vienes.',
    },
    sourceFailed: {
      title: 'La verificación no se pudo completar',
      text: 'El servicio que comprueba identidades no dio una respuesta utilizable. Empieza de nuevo desde el sitio o la aplicación de donde vienes.',
    },
    sourceDown: {
      title: 'El servicio de verificación no responde',
      text: 'Ahora mismo no se puede contactar con el servicio que comprueba identidades. Espera un momento e inténtalo de nuevo, o cancela.',
    },
    linkDead: {
      title: 'Esta dirección ya no sirve',
      text: 'Una dirección para el teléfono sirve una vez, durante 2 minutos. También deja de servir tras tres códigos erróneos o si sigues en el ordenador. Tu ordenador indica cómo seguir.',
    },
    forged: {
      title: 'No pudimos aceptar este formulario',
      text: 'No venía de su propia página, o la página era demasiado antigua. Nada ha cambiado: inténtalo de nuevo.',
    },
    notFound: {
      title: 'Esa página no existe',
      text: 'Comprueba la dirección, o vuelve al sitio o la aplicación de donde vienes.',
    },
    invalid: {
      title: 'Esta solicitud no funciona',
      text: 'El sitio o la aplicación que te envió aquí cometió un error. No es culpa tuya: vuelve y avisa a quien lo gestiona.',
    },
    tooMany: {
      title: 'Demasiadas verificaciones a la vez',
      text: 'Desde tu red se han iniciado muchas verificaciones en un minuto. Espera un minuto y empieza de nuevo desde el sitio o la aplicación de donde vienes.',
    },
    tooManyTries: { title: 'Demasiados intentos', text: 'Espera un minuto y vuelve a intentarlo.' },
    passkeyRefused: {
      title: 'No se aceptó tu llave de acceso',
      text: 'Inténtalo de nuevo o continúa sin ella.',
    },
    passkeyUnknown: {
      title: 'No conocemos esta llave de acceso',
      text: 'Se eliminó. Continúa sin ella.',
    },
    passkeyOtherMode: {
      title: 'Esta llave de acceso no sirve aquí',
      text: 'Se guardó en el modo de prueba de un sitio, o esta página está en modo de prueba. Continúa sin ella.',
    },
    unavailable: {
      title: 'Ahora mismo no podemos continuar',
      text: 'Es culpa nuestra, no tuya. No se ha perdido nada: espera un momento e inténtalo de nuevo.',
    },
  },
};
