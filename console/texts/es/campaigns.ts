// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { many } = wordsIn('es');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Un mensaje en las tarjetas de todas las personas elegidas.',
  new: 'Campaña nueva',
  program: 'Tarjeta de fidelidad',
  allPrograms: 'Todas las tarjetas de fidelidad',
  anyProgram: 'Su tarjeta de fidelidad',
  tags: 'Quién lo recibe',
  tagsHint: (tags: string[]) =>
    `socios con todas estas etiquetas, separadas por comas; vacío: todos${tags.length > 0 ? `; en uso: ${tags.join(', ')}` : ''}`,
  message: 'Mensaje',
  left: (characters: number) => `Quedan ${characters} caracteres`,
  audience: (members: number, isComplete: boolean) =>
    `Llega a ${isComplete ? '' : 'al menos '}${many(members, 'socio activo', 'socios activos')}.`,
  preview: 'En la pantalla bloqueada',
  send: 'Enviar',
  sendTitle: '¿Enviar este mensaje?',
  sent: 'La campaña ha empezado.',
  none: 'Ninguna campaña todavía.',
  started: 'Inicio',
  state: 'Estado',
  finishing: 'Todos los socios están listos. La campaña se está cerrando.',
  matched: 'Socios',
  pushed: 'Enviado',
  skipped: 'En ningún teléfono',
  failed: 'Aún sin llegar',
};
