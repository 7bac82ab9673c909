// The live desk.

import type { Hop } from '../../hops.js';
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('es');

export const desk: Catalogue['desk'] = {
  absent: 'La demostración en vivo pertenece a la demo de `npm start`. Este servicio funciona sin ella.',
  ownersOnly: 'La demostración en vivo es del propietario: muestra todos los correos y detiene partes del servicio.',
  lead: 'Una caja y dos teléfonos virtuales. Ponga la tarjeta de un socio en los teléfonos, dé un sello en la caja y véalo llegar.',
  switchOn: 'Encender los teléfonos',
  switchOnHint: 'Los teléfonos se encienden al abrir esta página por primera vez. Tarda unos segundos.',
  switchingOn: 'Encendiendo…',
  technically: 'Qué pasa entonces',
  standIns:
    'En esta máquina arrancan sustitutos del servicio push de Apple y de Google Wallet. El worker y la API aceptan sus certificados de prueba mientras funcionan.',
  phones: 'Teléfonos',
  find: 'Buscar un socio',
  findHint: 'nombre, correo, teléfono o número de socio; vacío: los socios más recientes',
  cardOf: { iphone: 'iPhone: tarjeta de', android: 'Android: tarjeta de' },
  choose: 'Elija un socio',
  cardOption: (name: string, program: string) => `${name}, ${program}`,
  openMember: (name: string) => `Abrir ${name} en «Socios»`,
  nobody: (words: string) => `Ningún socio coincide con ${words}.`,
  noSaveUrl: 'Google aún no ha creado esta tarjeta. Inténtelo de nuevo en un momento.',
  noCard: 'Aún sin tarjeta.',
  adding: 'La tarjeta está en camino…',
  flightOn: 'Modo avión',
  flightOff: 'Salir del modo avión',
  give: 'En la caja',
  message: 'Mensaje para la pantalla bloqueada',
  firstMessage: 'Gracias por su visita',
  giveOne: { stamp: 'Dar un sello', point: 'Dar un punto' },
  giveEach: 'Dar un sello y un punto',
  redeem: 'Canjear',
  undo: 'Deshacer',
  firstCard: 'Ponga primero una tarjeta en un teléfono: elija de quién.',
  firstPhones: 'Los teléfonos aún no están encendidos.',
  samples: '¿Aún no se ha dado de alta nadie?',
  /** The last name of members who are no real people. */
  sample: '(ejemplo)',
  join: 'Dar de alta a Ada y Grace',
  joining: 'Dos personas se dan de alta…',
  breakdown: 'Simular un fallo (demo)',
  breakdownHint:
    'No se pierde ningún sello cuando falla una parte del servicio. Detenga una, dé un sello y véalo llegar.',
  killWorker: 'Detener los avisos',
  killTemporal: 'Detener la lista de tareas',
  breakdownDetail:
    'Una parte avisa a los teléfonos y a los programas conectados; otra recuerda lo que queda por hacer. Cualquiera se detiene en pleno trabajo y arranca de nuevo sola.',
  log: 'Qué ha pasado',
  logHint: 'Los tiempos se cuentan desde el momento en que se guardó el cambio, dondequiera que fuese.',
  noHops: 'Nada ha pasado todavía.',
  underWay: 'Ningún teléfono lo sabe todavía.',
  after: (ms: number) => `${number(ms)} ms`,
  hop: ({ what, who, name = '', detail = '', lockScreen, isSilent = false }: Hop): string => {
    const phone = who === 'android' ? 'Android' : 'iPhone';
    const sentences: Record<Hop['what'], string> = {
      changed: `${name}: ${detail}`,
      touched: `${name}: la tarjeta ha cambiado`,
      added: `${name}: la tarjeta se pone en el ${phone === 'Android' ? 'teléfono Android' : phone}`,
      flightOn: 'Modo avión activado',
      flightOff: 'Modo avión desactivado',
      killed: detail === 'worker' ? 'Los avisos se han detenido' : 'La lista de tareas se ha detenido',
      starting: 'Se encienden los teléfonos',
      ready: 'Los teléfonos están encendidos',
      mail: `Correo: ${detail}`,
      push: 'Apple avisa al iPhone de que una tarjeta ha cambiado',
      list: 'El iPhone pregunta cuál',
      fetch: 'El iPhone recoge la tarjeta',
      add: 'El iPhone recibe la tarjeta',
      register: 'El iPhone pide que se le avise de los cambios',
      saved: 'Android ha guardado la tarjeta',
      face: `${phone} muestra ${detail}${lockScreen === undefined ? '' : `; pantalla bloqueada: ${lockScreen}`}${isSilent ? '; nada en la pantalla bloqueada: Google muestra allí tres mensajes de una tarjeta al día' : ''}`,
    };
    return sentences[what];
  },
  gone: 'La demostración no responde; se intenta de nuevo.',
};
