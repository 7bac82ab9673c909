// The list of members, mails with their cards, and all that is kept about one.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many } = wordsIn('es');

export const members: Catalogue['members'] = {
  search: 'Buscar',
  searchHint: 'nombre, correo, teléfono o número de socio',
  program: 'Tarjeta de fidelidad',
  allPrograms: 'Todas las tarjetas de fidelidad',
  cardNumber: 'Número de cliente antiguo',
  cardNumberHint: 'exactamente como está en la tarjeta',
  audience: 'Quién',
  audiences: {
    '': 'Todos',
    today: 'Han venido hoy',
    returning: 'Han vuelto en los últimos 7 días',
    rewarded: 'Con recompensa en los últimos 7 días',
    joined: 'Alta en los últimos 7 días',
    nearlyFull: 'Tarjeta casi llena',
    away: 'Ausentes desde hace 30 días',
  },
  lastVisit: 'Última visita',
  found: (total: number) => many(total, 'socio', 'socios'),
  download: 'Descargar la lista (CSV)',
  none: 'Sin resultados.',
  person: 'Persona',
  email: 'Correo electrónico',
  code: 'Número de socio',
  balance: 'Saldo',
  status: 'Estado',
  since: 'Desde',
  statuses: { active: 'Activa', voided: 'Bloqueada', expired: 'Caducada' },
  enroll: 'Añadir un socio',
  into: 'Tarjeta de fidelidad',
  firstName: 'Nombre',
  lastName: 'Apellidos',
  enrolled: 'Añadido.',
  known: 'Esta persona ya es socia.',
};

export const cardMails: Catalogue['cardMails'] = {
  mail: 'Enviar sus tarjetas por correo',
  title: '¿Enviar a estas personas sus tarjetas por correo?',
  send: (people: number) => `Enviar a ${many(people, 'persona', 'personas')}`,
  people: (people: number, minutes: number) =>
    people === 0
      ? 'Nadie de esta importación tiene correo electrónico.'
      : `${many(people, 'persona recibe', 'personas reciben')} un correo con el enlace a la tarjeta. Tarda aproximadamente ${many(minutes, 'minuto', 'minutos')}.`,
  withoutEmail: (people: number) =>
    `${many(people, 'persona no tiene', 'personas no tienen')} correo electrónico y no ${either(people, 'recibe', 'reciben')} nada.`,
  once: 'Cada persona lo recibe una vez, aunque lo repita.',
  started: 'Los correos están en camino.',
  isStarted: 'Las tarjetas se han enviado por correo.',
};

export const memberData: Catalogue['memberData'] = {
  title: 'Todo lo que se conserva',
  titleOf: (name: string) => `Todo lo que se conserva de ${name}`,
  json: 'Como archivo (JSON)',
  print: 'Imprimir',
  yes: 'Sí',
  no: 'No',
  leftOut: 'Su rol no puede leer el registro, por eso no se incluye.',
  fields: {
    lifetimePoints: 'Reunido en total',
    message: 'Último mensaje en la tarjeta',
    source: 'Llegó por',
    sources: {
      api: 'Un sistema conectado',
      console: 'La consola',
      import: 'Una importación',
      public: 'La página de inscripción',
    },
    createdAt: 'Añadido el',
    visitDays: 'Días con visita',
    lastRewardAt: 'Última recompensa',
    word: 'Palabra',
    before: 'Saldo anterior',
    after: 'Saldo posterior',
    receipt: 'Recibo',
    soldAt: 'Hora en la caja',
    report: 'Lo que avisó el teléfono',
    line: 'Línea del archivo',
    columns: 'Columnas del archivo',
    cells: 'Celdas de la línea',
    mails: {
      'card-link': 'Enlace a la tarjeta',
      confirmation: 'Confirmación del correo',
      'sign-in': 'Enlace de acceso',
      invitation: 'Invitación',
    },
    mailStates: {
      queued: 'En espera',
      sent: 'Enviado',
      failed: 'No enviado',
    },
    sentAt: 'Enviado el',
  },
  sections: {
    members: 'La persona y su tarjeta',
    emails: 'Correo electrónico',
    externalIds: 'Número de cliente antiguo',
    memberSearchWords: 'Palabras con las que se encuentra a la persona',
    timeline: 'Qué ha pasado',
    ledger: 'Puntos y recompensas',
    events: 'Comunicado a sus sistemas',
    devices: 'Teléfonos con la tarjeta',
    removals: 'Quitada de teléfonos',
    deviceLogs: 'Problemas comunicados por teléfonos',
    requests: 'Peticiones de sus sistemas',
    deliveries: 'Entregas a sus sistemas',
    audit: 'Quién ha cambiado qué',
    importChunks: 'Filas de archivos importados',
    batchTargets: 'Campañas e importaciones',
    mails: 'Correos',
    idempotencyKeys: 'Respuestas conservadas para peticiones repetidas',
  },
};
