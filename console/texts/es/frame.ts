// What stands around every page, and parts that many pages use.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('es');

export const nav: Catalogue['nav'] = {
  overview: 'Resumen',
  programs: 'Tarjetas de fidelidad',
  members: 'Socios',
  imports: 'Importaciones',
  campaigns: 'Campañas',
  webhooks: 'Webhooks',
  readers: 'Dispositivos de caja',
  apiKeys: 'Claves de API',
  people: 'Personas',
  audit: 'Registro',
  liveDesk: 'Demostración en vivo',
};

/** The fields of the API as the screens name them. */
export const fieldNames: Catalogue['fieldNames'] = {
  firstName: 'Nombre',
  lastName: 'Apellidos',
  email: 'Correo electrónico',
  phone: 'Teléfono',
  initialPoints: 'Saldo inicial',
  externalId: 'Número de cliente antiguo',
  birthday: 'Fecha de nacimiento',
  delta: 'Cambio',
  changeMessage: 'Mensaje para la pantalla bloqueada',
  roleIds: 'Rol',
  slug: 'Dirección web',
  programId: 'Tarjeta de fidelidad',
  name: 'Nombre',
  tags: 'Etiquetas',
  status: 'Estado',
};

export const menu: Catalogue['menu'] = {
  everyDay: 'Cada día',
  cardAndTeam: 'Tarjeta y equipo',
  connections: 'Conexiones',
};

export const frame: Catalogue['frame'] = {
  product: 'Consola de fidelidad',
  navigation: 'Páginas',
  account: 'Cuenta',
  language: 'Idioma',
  menu: 'Menú',
  skip: 'Ir al contenido',
  loading: 'Cargando…',
  justNow: 'ahora mismo',
  wrong: (field: string, mistake: string) => `${field}: ${mistake}`,
  wrongElsewhere: (mistakes: string) => `Algo aún no está bien: ${mistakes}.`,
  working: 'En curso…',
  save: 'Guardar',
  create: 'Crear',
  cancel: 'Cancelar',
  close: 'Cerrar',
  copy: 'Copiar',
  stored: 'Lo he guardado',
  dismiss: 'Ocultar',
  actions: 'Acciones',
  none: '–',
  previous: 'Página anterior',
  next: 'Página siguiente',
  page: (page: number, pages: number, total: number) => `Página ${page} de ${pages}, ${number(total)} en total`,
  pagesOf: (table: string) => `Páginas de ${table}`,
  filters: 'Filtros',
  notFound: 'Esta página no existe',
  notAllowed: (permission: string) =>
    `Su rol no lo permite (${permission}). Un propietario puede darle otro en «Personas».`,
  notAnswered: 'El servicio no responde. Lo que ha escrito sigue aquí.',
  pressAgain: 'El servicio no responde. Pulse otra vez: cuenta una sola vez.',
  away: 'El servicio no responde. Se intenta de nuevo cada dos segundos; lo que ha escrito se queda aquí.',
  outdated: 'La consola se ha actualizado. Recargue la página: lo que ha escrito se conserva.',
  reload: 'Recargar',
  leaveTitle: '¿Salir sin guardar?',
  leaveHint: 'Sus cambios aún no están guardados. Esta pestaña los conserva hasta que vuelva.',
  leave: 'Salir de la página',
  showAsCurl: 'Mostrar como curl',
  calls: 'Llamadas de esta pestaña',
  callsHint:
    'Todo aquí es una llamada de la API pública. SESSION es el token de su sesión; la mayoría de las llamadas admiten también una clave de API.',
  call: (method: string, path: string) => `${method} ${path}`,
  callTook: (status: number, ms: number) => (status === 0 ? 'sin respuesta' : `${status}, ${ms} ms`),
};

export const till: Catalogue['till'] = {
  title: 'Caja',
  open: 'Abrir la caja',
  only: 'Dar sellos y puntos, canjear recompensas y deshacer: todo se hace en la caja.',
};

export const session: Catalogue['session'] = {
  signIn: 'Iniciar sesión',
  signOut: 'Cerrar sesión',
  signedIn: 'Ya he iniciado sesión',
  foreign: 'Esta sesión pertenece a otra consola y termina allí.',
  ended: 'Su sesión ha terminado',
  endedHint: 'Inicie sesión otra vez en otra pestaña y vuelva. Lo que ha escrito se conserva.',
};

export const phases: Catalogue['phases'] = {
  scheduled: 'Planificado',
  storing: 'Subiendo',
  queued: 'En espera',
  creating: 'Añadiendo socios',
  publishing: 'Creando tarjetas',
  running: 'En curso',
  completed: 'Terminado',
  failed: 'Fallido',
  cancelled: 'Cancelado',
};

export const images: Catalogue['images'] = {
  drop: (label: string) => `${label}: suelte una imagen`,
  choose: (label: string) => `${label}: elegir un archivo`,
  chooseShort: 'Elegir un archivo',
  remove: (label: string) => `${label}: quitar`,
  removeShort: 'Quitar',
  unreadable: 'Este archivo no es una imagen que se pueda leer.',
  notSquare: (width: number, height: number) =>
    `La imagen mide ${width} x ${height} y esta tiene que ser cuadrada. Recórtela primero.`,
};

export const phones: Catalogue['phones'] = {
  iphone: 'iPhone',
  android: 'Android',
  front: 'Anverso',
  back: 'Reverso',
  lock: 'Pantalla bloqueada',
  older: 'Antes de iOS 27',
  actions: {
    membershipBenefits: 'Ver las ventajas',
    order: 'Pedir a domicilio o para recoger',
    call: 'Llamar',
  },
  views: (phone: string) => `Vistas de ${phone}`,
  code: (value: string) => `Código QR ${value}`,
  nothing: 'Aparece cuando el borrador no tiene errores.',
  noMessage: 'Ningún mensaje',
  publicPage: 'Página de alta',
};

export const plots: Catalogue['plots'] = {
  of: (title: string, series: string[]) =>
    `${title} por día: ${series.join(', ')}. La tabla de abajo tiene los números.`,
  table: (title: string) => `${title} como tabla`,
  gone: 'No se pudo cargar el gráfico. La tabla tiene sus números; recargue la página para verlo.',
  day: 'Día',
  none: 'Nada todavía.',
};
