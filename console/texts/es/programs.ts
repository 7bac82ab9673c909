// Programs and their posters.
import type { Catalogue } from '../en/index.js';

export const programs: Catalogue['programs'] = {
  lead: 'Sus tarjetas de fidelidad: qué aspecto tienen, qué se acumula y qué se recibe a cambio.',
  create: 'Tarjeta de fidelidad nueva',
  name: 'Nombre',
  style: 'Tipo',
  styles: {
    stamps: 'Sellos',
    points: 'Puntos',
    tiered: 'Puntos con niveles',
  },
  /** What a new card begins with. */
  beginnings: { points: 'PUNTOS', stamps: 'SELLOS', bronze: 'Bronce', silver: 'Plata', gold: 'Oro' },
  program: 'Tarjeta de fidelidad',
  unit: 'Lo que se acumula',
  goal: 'Objetivo',
  version: 'Versión',
  state: 'Estado',
  open: 'Activa',
  archived: 'Archivada',
  none: 'Ninguna tarjeta de fidelidad todavía.',
  inUtc:
    'La zona horaria de este dispositivo no se conoce aquí, así que los días y las horas se cuentan en UTC. Elija la suya en «Caducidad».',
};

export const counterPoster: Catalogue['counterPoster'] = {
  title: 'Cartel para el mostrador',
  hint: 'El código QR de la página de alta, con los colores, el logotipo y el idioma de la tarjeta publicada.',
  format: 'Tamaño',
  formats: {
    a4: 'A4',
    a5: 'A5',
    tent: 'Cartel de mesa (A4 para plegar)',
  },
  pdf: 'Descargar PDF',
  png: 'Descargar imagen (PNG)',
  saved: 'El cartel está en sus descargas.',
  neverPublished: 'Publique primero la tarjeta: hasta entonces su página no existe.',
  archived: 'La tarjeta está archivada y nadie puede darse de alta.',
  closed: 'La página está cerrada y el código no llevaría a nada. Ábrala y publique.',
  lettersMissing: (letters: string) =>
    `A las letras del cartel les faltan estas de los textos de la tarjeta: ${letters}`,
};
