// Spanish.
import type { Catalogue } from './en.js';

export const es: Catalogue = {
  mail: {
    hello: 'Hola:',
    orOpen: 'O abra esta dirección:',
    'card-link': {
      subject: (from) => `Su tarjeta: ${from}`,
      text: (from) =>
        `aquí tiene el enlace a su tarjeta de ${from}. Ábralo en su teléfono para añadir la tarjeta a su wallet.`,
      button: 'Abrir mi tarjeta',
      why: (from) =>
        `Recibe este mensaje porque alguien pidió una tarjeta de ${from} con esta dirección. Si no fue usted, no tiene que hacer nada.`,
    },
    'sign-in': {
      subject: (from) => `Iniciar sesión: ${from}`,
      text: (from) =>
        `con este enlace inicia sesión en la consola de ${from}. Funciona una sola vez, durante 15 minutos.`,
      button: 'Iniciar sesión',
      why: () => 'Si no pidió este enlace, puede ignorar este mensaje.',
    },
    invitation: {
      subject: (from) => `Invitación: ${from}`,
      text: (from) =>
        `tiene una invitación a la consola de ${from}. El enlace funciona una sola vez, durante 15 minutos; después puede pedir otro con esta dirección.`,
      button: 'Aceptar la invitación',
      why: () => 'Si no sabe de qué se trata, puede ignorar este mensaje.',
    },
  },
};
