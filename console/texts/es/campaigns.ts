// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many, number } = wordsIn('es');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Un mensaje en las tarjetas de todas las personas elegidas.',
  new: 'Campaña nueva',
  program: 'Tarjeta de fidelidad',
  allPrograms: 'Todas las tarjetas de fidelidad',
  anyProgram: 'Su tarjeta de fidelidad',
  tags: 'Con todas estas etiquetas',
  tagsHint: (tags: string[]) =>
    `socios con todas estas etiquetas, separadas por comas; vacío: todos${tags.length > 0 ? `; en uso: ${tags.join(', ')}` : ''}`,
  message: 'Mensaje',
  left: (characters: number) =>
    `${either(characters, 'Queda', 'Quedan')} ${many(characters, 'carácter', 'caracteres')}`,
  audience: ({ matched, reachable, complete }) =>
    `Llega a ${complete ? '' : 'al menos '}${many(matched, 'socio activo', 'socios activos')}, ${number(reachable)} con la tarjeta en un teléfono.`,
  who: 'Quién lo recibe',
  whoOf: (who) => `Quién lo recibe: ${who}`,
  when: 'Enviar el',
  whenHint: 'vacío: ahora mismo',
  later: (moment) => `Se envía el ${moment}.`,
  planned: 'La campaña está planificada.',
  preview: 'En la pantalla bloqueada',
  send: 'Enviar',
  sendTitle: '¿Enviar este mensaje?',
  plan: 'Planificar',
  planTitle: '¿Planificar este mensaje?',
  sent: 'La campaña ha empezado.',
  none: 'Ninguna campaña todavía.',
  started: 'Cuándo',
  state: 'Estado',
  notSent: 'No se envió nada.',
  finishing: 'Todos los socios están procesados. La campaña se está cerrando.',
  matched: 'Socios',
  pushed: 'Enviados',
  skipped: 'En ningún teléfono',
  failed: 'Aún sin llegar',
  today: 'Es el número de hoy.',
  automatic: 'Mensajes automáticos',
  automaticLead:
    'Cada socio recibe cada uno una vez: en cada vuelta hasta la recompensa, en cada ausencia, después del alta.',
  text: 'Texto',
  messagesOf: 'Mensajes de',
  tells: ({ matched, reachable, complete }) =>
    `Hoy llegaría a ${complete ? '' : 'al menos '}${many(matched, 'socio', 'socios')}, ${number(reachable)} con la tarjeta en un teléfono.`,
  on: 'Enviar solo',
  hour: 'Hora',
  zone: (zone) => `hora de ${zone}`,
  next: 'Próxima vez:',
  save: 'Guardar',
  saved: 'El mensaje automático está guardado.',
  isAutomatic: 'Automático',
};
