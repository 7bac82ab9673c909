// All texts of the till, in the five languages of the service; the browser's choice decides.

const en = {
  title: 'Till',
  pair: {
    title: 'Connect this till',
    hint: 'The code has eight letters. Whoever runs the shop makes it in the console, under Readers.',
    label: 'Pairing code',
    connect: 'Connect',
    person: 'Sign in with your email instead',
    back: 'Back',
    unsent: (count: number) => `Not sent yet: ${count}. A new code cannot send these entries.`,
  },
  line: {
    on: 'Online',
    off: 'No internet',
    unknown: 'Connecting',
    waiting: (count: number) => `${count} not sent yet`,
  },
  find: {
    title: 'Next customer',
    hint: 'Scan the customer’s card, or type its number.',
    label: 'Card number',
    labelMore: 'Card number, phone or email',
    button: 'Find',
    looking: 'Looking…',
    camera: 'Scan with the camera',
    cameraOff: 'Switch the camera off',
    view: 'Picture of the camera',
    refused: 'The camera cannot be used. Allow it in the settings of this device, or type the number.',
    stopped: 'The camera has stopped. This page is opening it again. Until then, type the number.',
    repeated: 'This card was just read.',
    again: 'Open it again',
    offline: 'No internet. Scan or type the number of the card.',
    unknown: 'No card with this number.',
  },
  choose: {
    whose: 'Whose card is it?',
    which: 'Which card is it?',
    readings: "The scanner's letters can be read in two ways. Compare with the card.",
  },
  member: {
    of: (goal: number) => `of ${goal}`,
    age: (ago: string) => `Balance from ${ago}`,
    stranger: 'This till has not seen the card before. The entry is checked when the internet is back.',
    stamps: (count: number) => (count === 1 ? '1 stamp' : `${count} stamps`),
    full: 'The card is full.',
    inactive: 'This card is not active.',
    amount: (currency: string) => `Amount of the sale in ${currency}`,
    add: 'Add points',
    noEarning: 'Points for this card are not given here.',
    redeem: (name: string) => `Redeem: ${name}`,
    reward: 'Reward',
    more: 'Give more',
    undo: 'Undo',
    back: 'Next customer',
    show: 'Show the customer',
    seen: 'OK',
    ready: (name: string) => `Ready: ${name}`,
  },
  tap: {
    noted: 'Noted',
    sent: 'Sent ✓',
    waiting: 'Waiting',
    refused: (why: string) => `Refused: ${why}`,
    later: 'It is sent when the internet is back.',
    redeemed: (name: string) => `Redeemed: ${name}`,
    undone: (deed: string) => `Undone: ${deed}`,
    lost: 'It may not have arrived before this till was connected anew. Look at the balance of the card before you enter it again.',
  },
  store: {
    notNoted: 'NOT noted.',
    tryAgain: 'This device could not store it. Try again; if that fails too, close the page and open it again.',
    broken:
      'This device can store nothing at the moment, so nothing can be noted. Close the page and open it again. In a private window the till does not work.',
    retry: 'Try again',
  },
  sound: 'Sound and vibration',
  lists: { refused: 'Did not go through', last: 'Latest entries', dismiss: 'Done', none: 'Nothing yet.' },
  out: {
    reader: 'This till has been disconnected. Its entries are kept. Type a new code to go on.',
    person: 'You are signed out. Your entries are kept.',
    signIn: 'Sign in',
  },
};

type Texts = typeof en;

const de: Texts = {
  title: 'Kasse',
  pair: {
    title: 'Diese Kasse verbinden',
    hint: 'Der Code hat acht Buchstaben. Wer das Geschäft verwaltet, erstellt ihn in der Konsole unter „Readers“.',
    label: 'Kopplungscode',
    connect: 'Verbinden',
    person: 'Stattdessen mit E-Mail anmelden',
    back: 'Zurück',
    unsent: (count) => `Noch nicht gesendet: ${count}. Ein neuer Code kann diese Buchungen nicht senden.`,
  },
  line: { on: 'Online', off: 'Kein Internet', unknown: 'Verbinde', waiting: (count) => `${count} noch nicht gesendet` },
  find: {
    title: 'Nächster Gast',
    hint: 'Die Karte scannen oder ihre Nummer eintippen.',
    label: 'Kartennummer',
    labelMore: 'Kartennummer, Telefon oder E-Mail',
    button: 'Suchen',
    looking: 'Suche läuft…',
    camera: 'Mit der Kamera scannen',
    cameraOff: 'Kamera ausschalten',
    view: 'Bild der Kamera',
    refused: 'Die Kamera geht nicht. Bitte in den Einstellungen des Geräts erlauben oder die Nummer eintippen.',
    stopped: 'Die Kamera ist ausgegangen und wird wieder eingeschaltet. Bis dahin bitte die Nummer eintippen.',
    repeated: 'Diese Karte wurde gerade gelesen.',
    again: 'Nochmals öffnen',
    offline: 'Kein Internet. Bitte die Nummer der Karte scannen oder eintippen.',
    unknown: 'Keine Karte mit dieser Nummer.',
  },
  choose: {
    whose: 'Wem gehört die Karte?',
    which: 'Welche Karte ist es?',
    readings: 'Die Buchstaben des Scanners lassen sich auf zwei Arten lesen. Bitte mit der Karte vergleichen.',
  },
  member: {
    of: (goal) => `von ${goal}`,
    age: (ago) => `Stand ${ago}`,
    stranger: 'Diese Kasse kennt die Karte noch nicht. Die Buchung wird geprüft, sobald das Internet wieder da ist.',
    stamps: (count) => (count === 1 ? '1 Stempel' : `${count} Stempel`),
    full: 'Die Karte ist voll.',
    inactive: 'Diese Karte ist nicht aktiv.',
    amount: (currency) => `Betrag in ${currency}`,
    add: 'Punkte geben',
    noEarning: 'Punkte für diese Karte werden nicht hier gegeben.',
    redeem: (name) => `Einlösen: ${name}`,
    reward: 'Prämie',
    more: 'Mehr geben',
    undo: 'Rückgängig',
    back: 'Nächster Gast',
    show: 'Dem Gast zeigen',
    seen: 'OK',
    ready: (name) => `Bereit: ${name}`,
  },
  tap: {
    noted: 'Notiert',
    sent: 'Gesendet ✓',
    waiting: 'Wartet',
    refused: (why) => `Abgelehnt: ${why}`,
    later: 'Wird gesendet, sobald das Internet wieder da ist.',
    redeemed: (name) => `Eingelöst: ${name}`,
    undone: (deed) => `Rückgängig: ${deed}`,
    lost: 'Vielleicht nicht angekommen, bevor diese Kasse neu verbunden wurde. Bitte erst den Stand der Karte ansehen, dann neu eingeben.',
  },
  store: {
    notNoted: 'NICHT notiert.',
    tryAgain:
      'Dieses Gerät konnte es nicht speichern. Noch einmal versuchen; wenn auch das nicht geht, die Seite schließen und neu öffnen.',
    broken:
      'Dieses Gerät kann gerade nichts speichern, deshalb wird keine Buchung notiert. Die Seite schließen und neu öffnen. In einem privaten Fenster arbeitet die Kasse nicht.',
    retry: 'Noch einmal versuchen',
  },
  sound: 'Ton und Vibration',
  lists: { refused: 'Nicht gebucht', last: 'Letzte Buchungen', dismiss: 'Erledigt', none: 'Noch keine Buchungen.' },
  out: {
    reader: 'Diese Kasse wurde getrennt. Ihre Buchungen bleiben erhalten. Mit einem neuen Code geht es weiter.',
    person: 'Sie sind abgemeldet. Ihre Buchungen bleiben erhalten.',
    signIn: 'Anmelden',
  },
};

const fr: Texts = {
  title: 'Caisse',
  pair: {
    title: 'Connecter cette caisse',
    hint: 'Le code a huit lettres. La personne qui gère le commerce le crée dans la console, sous « Readers ».',
    label: 'Code d’association',
    connect: 'Connecter',
    person: 'Se connecter plutôt avec son e-mail',
    back: 'Retour',
    unsent: (count) => `Pas encore envoyé : ${count}. Un nouveau code ne peut pas envoyer ces saisies.`,
  },
  line: {
    on: 'En ligne',
    off: 'Pas d’internet',
    unknown: 'Connexion',
    waiting: (count) => `${count} pas encore envoyé`,
  },
  find: {
    title: 'Client suivant',
    hint: 'Scannez la carte du client ou saisissez son numéro.',
    label: 'Numéro de carte',
    labelMore: 'Numéro de carte, téléphone ou e-mail',
    button: 'Chercher',
    looking: 'Recherche…',
    camera: 'Scanner avec la caméra',
    cameraOff: 'Éteindre la caméra',
    view: 'Image de la caméra',
    refused: 'La caméra ne marche pas. Autorisez-la dans les réglages de l’appareil ou saisissez le numéro.',
    stopped: 'La caméra s’est arrêtée. Cette page la rouvre. En attendant, saisissez le numéro.',
    repeated: 'Cette carte vient d’être lue.',
    again: 'Rouvrir',
    offline: 'Pas d’internet. Scannez ou saisissez le numéro de la carte.',
    unknown: 'Aucune carte avec ce numéro.',
  },
  choose: {
    whose: 'À qui est cette carte ?',
    which: 'De quelle carte s’agit-il ?',
    readings: 'Les lettres du lecteur peuvent se lire de deux façons. Comparez avec la carte.',
  },
  member: {
    of: (goal) => `sur ${goal}`,
    age: (ago) => `Solde ${ago}`,
    stranger: 'Cette caisse ne connaît pas encore la carte. La saisie sera vérifiée au retour d’internet.',
    stamps: (count) => (count === 1 ? '1 tampon' : `${count} tampons`),
    full: 'La carte est pleine.',
    inactive: 'Cette carte n’est pas active.',
    amount: (currency) => `Montant en ${currency}`,
    add: 'Ajouter les points',
    noEarning: 'Les points de cette carte ne sont pas donnés ici.',
    redeem: (name) => `Utiliser : ${name}`,
    reward: 'Récompense',
    more: 'Donner encore',
    undo: 'Annuler',
    back: 'Client suivant',
    show: 'Montrer au client',
    seen: 'OK',
    ready: (name) => `Disponible : ${name}`,
  },
  tap: {
    noted: 'Noté',
    sent: 'Envoyé ✓',
    waiting: 'En attente',
    refused: (why) => `Refusé : ${why}`,
    later: 'Ce sera envoyé au retour d’internet.',
    redeemed: (name) => `Utilisé : ${name}`,
    undone: (deed) => `Annulé : ${deed}`,
    lost: 'Peut-être pas arrivé avant que cette caisse soit reconnectée. Regardez le solde de la carte avant de saisir de nouveau.',
  },
  store: {
    notNoted: 'PAS noté.',
    tryAgain: 'Cet appareil n’a pas pu l’enregistrer. Réessayez ; si cela échoue encore, fermez la page et rouvrez-la.',
    broken:
      'Cet appareil ne peut rien enregistrer pour le moment : aucune saisie ne sera notée. Fermez la page et rouvrez-la. La caisse ne fonctionne pas dans une fenêtre privée.',
    retry: 'Réessayer',
  },
  sound: 'Son et vibration',
  lists: { refused: 'Non enregistré', last: 'Dernières saisies', dismiss: 'Vu', none: 'Aucune saisie.' },
  out: {
    reader: 'Cette caisse a été déconnectée. Ses saisies sont conservées. Un nouveau code permet de continuer.',
    person: 'Vous êtes déconnecté. Vos saisies sont conservées.',
    signIn: 'Se connecter',
  },
};

const es: Texts = {
  title: 'Caja',
  pair: {
    title: 'Conectar esta caja',
    hint: 'El código tiene ocho letras. Quien lleva el negocio lo crea en la consola, en «Readers».',
    label: 'Código de vinculación',
    connect: 'Conectar',
    person: 'Entrar con el correo',
    back: 'Volver',
    unsent: (count) => `Sin enviar: ${count}. Un código nuevo no puede enviar estos registros.`,
  },
  line: { on: 'En línea', off: 'Sin internet', unknown: 'Conectando', waiting: (count) => `${count} sin enviar` },
  find: {
    title: 'Siguiente cliente',
    hint: 'Escanee la tarjeta del cliente o escriba su número.',
    label: 'Número de tarjeta',
    labelMore: 'Número de tarjeta, teléfono o correo',
    button: 'Buscar',
    looking: 'Buscando…',
    camera: 'Escanear con la cámara',
    cameraOff: 'Apagar la cámara',
    view: 'Imagen de la cámara',
    refused: 'La cámara no funciona. Permítala en los ajustes del dispositivo o escriba el número.',
    stopped: 'La cámara se ha parado. Esta página la abre de nuevo. Mientras tanto, escriba el número.',
    repeated: 'Esta tarjeta se acaba de leer.',
    again: 'Abrir de nuevo',
    offline: 'Sin internet. Escanee o escriba el número de la tarjeta.',
    unknown: 'Ninguna tarjeta con este número.',
  },
  choose: {
    whose: '¿De quién es la tarjeta?',
    which: '¿Qué tarjeta es?',
    readings: 'Las letras del lector se pueden leer de dos maneras. Compare con la tarjeta.',
  },
  member: {
    of: (goal) => `de ${goal}`,
    age: (ago) => `Saldo ${ago}`,
    stranger: 'Esta caja aún no conoce la tarjeta. El registro se comprobará cuando vuelva internet.',
    stamps: (count) => (count === 1 ? '1 sello' : `${count} sellos`),
    full: 'La tarjeta está llena.',
    inactive: 'Esta tarjeta no está activa.',
    amount: (currency) => `Importe en ${currency}`,
    add: 'Sumar puntos',
    noEarning: 'Los puntos de esta tarjeta no se dan aquí.',
    redeem: (name) => `Canjear: ${name}`,
    reward: 'Recompensa',
    more: 'Dar más',
    undo: 'Deshacer',
    back: 'Siguiente cliente',
    show: 'Mostrar al cliente',
    seen: 'OK',
    ready: (name) => `Disponible: ${name}`,
  },
  tap: {
    noted: 'Anotado',
    sent: 'Enviado ✓',
    waiting: 'En espera',
    refused: (why) => `Rechazado: ${why}`,
    later: 'Se enviará cuando vuelva internet.',
    redeemed: (name) => `Canjeado: ${name}`,
    undone: (deed) => `Deshecho: ${deed}`,
    lost: 'Quizá no llegó antes de conectar de nuevo esta caja. Mire el saldo de la tarjeta antes de anotarlo otra vez.',
  },
  store: {
    notNoted: 'NO anotado.',
    tryAgain:
      'Este dispositivo no pudo guardarlo. Inténtelo otra vez; si vuelve a fallar, cierre la página y ábrala de nuevo.',
    broken:
      'Este dispositivo no puede guardar nada en este momento, así que no se anota nada. Cierre la página y ábrala de nuevo. En una ventana privada la caja no funciona.',
    retry: 'Intentar otra vez',
  },
  sound: 'Sonido y vibración',
  lists: { refused: 'No registrado', last: 'Últimos registros', dismiss: 'Visto', none: 'Sin registros.' },
  out: {
    reader: 'Esta caja se ha desconectado. Sus registros se conservan. Escriba un código nuevo para seguir.',
    person: 'Ha cerrado la sesión. Sus registros se conservan.',
    signIn: 'Entrar',
  },
};

const it: Texts = {
  title: 'Cassa',
  pair: {
    title: 'Collega questa cassa',
    hint: 'Il codice ha otto lettere. Chi gestisce il negozio lo crea nella console, in «Readers».',
    label: 'Codice di abbinamento',
    connect: 'Collega',
    person: 'Accedi invece con l’email',
    back: 'Indietro',
    unsent: (count) => `Non ancora inviate: ${count}. Un nuovo codice non può inviare queste registrazioni.`,
  },
  line: { on: 'In linea', off: 'Senza internet', unknown: 'Collegamento', waiting: (count) => `${count} da inviare` },
  find: {
    title: 'Prossimo cliente',
    hint: 'Scansiona la carta del cliente o digita il suo numero.',
    label: 'Numero della carta',
    labelMore: 'Numero della carta, telefono o email',
    button: 'Cerca',
    looking: 'Ricerca…',
    camera: 'Scansiona con la fotocamera',
    cameraOff: 'Spegni la fotocamera',
    view: 'Immagine della fotocamera',
    refused: 'La fotocamera non funziona. Consentila nelle impostazioni del dispositivo o digita il numero.',
    stopped: 'La fotocamera si è fermata. Questa pagina la riapre. Nel frattempo digita il numero.',
    repeated: 'Questa carta è appena stata letta.',
    again: 'Apri di nuovo',
    offline: 'Senza internet. Scansiona o digita il numero della carta.',
    unknown: 'Nessuna carta con questo numero.',
  },
  choose: {
    whose: 'Di chi è la carta?',
    which: 'Quale carta è?',
    readings: 'Le lettere del lettore si possono leggere in due modi. Confronta con la carta.',
  },
  member: {
    of: (goal) => `su ${goal}`,
    age: (ago) => `Saldo ${ago}`,
    stranger: 'Questa cassa non conosce ancora la carta. La registrazione sarà controllata quando torna internet.',
    stamps: (count) => (count === 1 ? '1 timbro' : `${count} timbri`),
    full: 'La carta è piena.',
    inactive: 'Questa carta non è attiva.',
    amount: (currency) => `Importo in ${currency}`,
    add: 'Aggiungi punti',
    noEarning: 'I punti di questa carta non si danno qui.',
    redeem: (name) => `Riscatta: ${name}`,
    reward: 'Premio',
    more: 'Dare altro',
    undo: 'Annulla',
    back: 'Prossimo cliente',
    show: 'Mostra al cliente',
    seen: 'OK',
    ready: (name) => `Disponibile: ${name}`,
  },
  tap: {
    noted: 'Annotato',
    sent: 'Inviato ✓',
    waiting: 'In attesa',
    refused: (why) => `Rifiutato: ${why}`,
    later: 'Sarà inviato quando torna internet.',
    redeemed: (name) => `Riscattato: ${name}`,
    undone: (deed) => `Annullato: ${deed}`,
    lost: 'Forse non è arrivato prima che questa cassa fosse ricollegata. Guarda il saldo della carta prima di registrare di nuovo.',
  },
  store: {
    notNoted: 'NON annotato.',
    tryAgain:
      'Questo dispositivo non ha potuto salvarlo. Riprova; se non riesce di nuovo, chiudi la pagina e riaprila.',
    broken:
      'Questo dispositivo ora non può salvare nulla, quindi niente viene annotato. Chiudi la pagina e riaprila. In una finestra privata la cassa non funziona.',
    retry: 'Riprova',
  },
  sound: 'Suono e vibrazione',
  lists: { refused: 'Non registrato', last: 'Ultime registrazioni', dismiss: 'Visto', none: 'Nessuna registrazione.' },
  out: {
    reader: 'Questa cassa è stata scollegata. Le registrazioni restano. Digita un nuovo codice per continuare.',
    person: 'La sessione è chiusa. Le registrazioni restano.',
    signIn: 'Accedi',
  },
};

const catalogues = { en, de, fr, es, it };
type Language = keyof typeof catalogues;

const isKnown = (code: string): code is Language => code in catalogues;

const wanted = globalThis.navigator?.languages ?? [];
export const language: Language = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find(isKnown) ?? 'en';
export const texts = catalogues[language];

const steps = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', Number.POSITIVE_INFINITY],
] as const;

/** The reward of a program that gives it no name is shown without one. */
export const rewardText = (name: string | undefined): string => name || texts.member.reward;

/** Such as "5 minutes ago". */
export function agoOf(ms: number): string {
  let value = Math.max(0, Math.round(ms / 1_000));
  for (const [unit, length] of steps) {
    if (value < length) return new Intl.RelativeTimeFormat(language).format(-value, unit);
    value = Math.floor(value / length);
  }
  return '';
}
