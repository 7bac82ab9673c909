// All texts of the till, in the five languages of the service; the browser's choice decides.

const en = {
  title: 'Till',
  pair: {
    title: 'Connect this till',
    hint: 'Type the pairing code. The console shows it under Readers.',
    label: 'Pairing code',
    connect: 'Connect',
    person: 'Sign in as a person instead',
    back: 'Back',
    unsent: (count: number) => `Not sent yet: ${count}. A new code cannot send these taps.`,
  },
  line: { on: 'Online', off: 'No line', unknown: 'Connecting', waiting: (count: number) => `${count} waiting` },
  find: {
    title: 'Next customer',
    label: 'Card number',
    labelMore: 'Card number, phone or email',
    button: 'Find',
    looking: 'Looking…',
    camera: 'Use the camera',
    cameraOff: 'Switch the camera off',
    view: 'Picture of the camera',
    refused: 'The camera is not available. Scan or type instead.',
    repeated: 'This card was just read.',
    again: 'Again',
    offline: 'No line. Scan or type the number of the card.',
    unknown: 'No card with this number.',
  },
  choose: {
    whose: 'Whose card is it?',
    which: 'Which card is it?',
    readings: "The scanner's letters can be read in two ways. Compare with the card.",
  },
  member: {
    balance: 'Balance',
    of: (goal: number) => `of ${goal}`,
    age: (ago: string) => `As of ${ago}, without a line`,
    stranger: 'This till has not seen the card before. It is checked when the line is back.',
    stamps: (count: number) => (count === 1 ? '1 stamp' : `${count} stamps`),
    full: 'The card is full.',
    inactive: 'This card is not active.',
    amount: (currency: string) => `Amount of the sale in ${currency}`,
    add: 'Add points',
    noEarning: 'Points for this card are not given here.',
    redeem: (name: string) => `Redeem: ${name}`,
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
    undone: 'Undone',
    lost: 'It may not have arrived before this till was connected anew. Look at the balance of the card before you enter it again.',
  },
  store: {
    notNoted: 'NOT noted.',
    tryAgain: 'This device could not store it. Try again; if that fails too, close the page and open it again.',
    broken:
      'This device can store nothing at the moment, so no tap can be noted. Close the page and open it again. In a private window the till does not work.',
    retry: 'Try again',
  },
  lists: { refused: 'Did not go through', last: 'Last taps', dismiss: 'Done', none: 'No taps yet.' },
  out: {
    reader: 'This till has been disconnected. Its taps are kept. Type a new code to go on.',
    person: 'You are signed out. Your taps are kept.',
    signIn: 'Sign in',
  },
};

type Texts = typeof en;

const de: Texts = {
  title: 'Kasse',
  pair: {
    title: 'Diese Kasse verbinden',
    hint: 'Kopplungscode eingeben. Er steht in der Konsole unter „Readers“.',
    label: 'Kopplungscode',
    connect: 'Verbinden',
    person: 'Stattdessen als Person anmelden',
    back: 'Zurück',
    unsent: (count) => `Noch nicht gesendet: ${count}. Ein neuer Code kann diese Buchungen nicht senden.`,
  },
  line: { on: 'Online', off: 'Keine Verbindung', unknown: 'Verbinde', waiting: (count) => `${count} warten` },
  find: {
    title: 'Nächster Gast',
    label: 'Kartennummer',
    labelMore: 'Kartennummer, Telefon oder E-Mail',
    button: 'Suchen',
    looking: 'Suche läuft…',
    camera: 'Kamera benutzen',
    cameraOff: 'Kamera ausschalten',
    view: 'Bild der Kamera',
    refused: 'Die Kamera ist nicht verfügbar. Bitte scannen oder tippen.',
    repeated: 'Diese Karte wurde gerade gelesen.',
    again: 'Nochmals',
    offline: 'Keine Verbindung. Bitte die Nummer der Karte scannen oder tippen.',
    unknown: 'Keine Karte mit dieser Nummer.',
  },
  choose: {
    whose: 'Wem gehört die Karte?',
    which: 'Welche Karte ist es?',
    readings: 'Die Buchstaben des Scanners lassen sich auf zwei Arten lesen. Bitte mit der Karte vergleichen.',
  },
  member: {
    balance: 'Stand',
    of: (goal) => `von ${goal}`,
    age: (ago) => `Stand ${ago}, ohne Verbindung`,
    stranger: 'Diese Kasse kennt die Karte noch nicht. Sie wird geprüft, sobald die Verbindung zurück ist.',
    stamps: (count) => (count === 1 ? '1 Stempel' : `${count} Stempel`),
    full: 'Die Karte ist voll.',
    inactive: 'Diese Karte ist nicht aktiv.',
    amount: (currency) => `Betrag in ${currency}`,
    add: 'Punkte geben',
    noEarning: 'Punkte für diese Karte werden nicht hier gegeben.',
    redeem: (name) => `Einlösen: ${name}`,
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
    undone: 'Rückgängig gemacht',
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
    hint: 'Saisissez le code d’association. La console l’affiche sous « Readers ».',
    label: 'Code d’association',
    connect: 'Connecter',
    person: 'Se connecter plutôt comme personne',
    back: 'Retour',
    unsent: (count) => `Pas encore envoyé : ${count}. Un nouveau code ne peut pas envoyer ces saisies.`,
  },
  line: { on: 'En ligne', off: 'Hors ligne', unknown: 'Connexion', waiting: (count) => `${count} en attente` },
  find: {
    title: 'Client suivant',
    label: 'Numéro de carte',
    labelMore: 'Numéro de carte, téléphone ou e-mail',
    button: 'Chercher',
    looking: 'Recherche…',
    camera: 'Utiliser la caméra',
    cameraOff: 'Éteindre la caméra',
    view: 'Image de la caméra',
    refused: 'La caméra n’est pas disponible. Scannez ou saisissez le numéro.',
    repeated: 'Cette carte vient d’être lue.',
    again: 'Encore',
    offline: 'Hors ligne. Scannez ou saisissez le numéro de la carte.',
    unknown: 'Aucune carte avec ce numéro.',
  },
  choose: {
    whose: 'À qui est cette carte ?',
    which: 'De quelle carte s’agit-il ?',
    readings: 'Les lettres du lecteur peuvent se lire de deux façons. Comparez avec la carte.',
  },
  member: {
    balance: 'Solde',
    of: (goal) => `sur ${goal}`,
    age: (ago) => `État ${ago}, hors ligne`,
    stranger: 'Cette caisse ne connaît pas encore la carte. Elle sera vérifiée au retour de la connexion.',
    stamps: (count) => (count === 1 ? '1 tampon' : `${count} tampons`),
    full: 'La carte est pleine.',
    inactive: 'Cette carte n’est pas active.',
    amount: (currency) => `Montant en ${currency}`,
    add: 'Ajouter les points',
    noEarning: 'Les points de cette carte ne sont pas donnés ici.',
    redeem: (name) => `Utiliser : ${name}`,
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
    undone: 'Annulé',
    lost: 'Peut-être pas arrivé avant que cette caisse soit reconnectée. Regardez le solde de la carte avant de saisir de nouveau.',
  },
  store: {
    notNoted: 'PAS noté.',
    tryAgain: 'Cet appareil n’a pas pu l’enregistrer. Réessayez ; si cela échoue encore, fermez la page et rouvrez-la.',
    broken:
      'Cet appareil ne peut rien enregistrer pour le moment : aucune saisie ne sera notée. Fermez la page et rouvrez-la. La caisse ne fonctionne pas dans une fenêtre privée.',
    retry: 'Réessayer',
  },
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
    hint: 'Escriba el código de vinculación. La consola lo muestra en «Readers».',
    label: 'Código de vinculación',
    connect: 'Conectar',
    person: 'Entrar como persona',
    back: 'Volver',
    unsent: (count) => `Sin enviar: ${count}. Un código nuevo no puede enviar estos registros.`,
  },
  line: { on: 'En línea', off: 'Sin conexión', unknown: 'Conectando', waiting: (count) => `${count} en espera` },
  find: {
    title: 'Siguiente cliente',
    label: 'Número de tarjeta',
    labelMore: 'Número de tarjeta, teléfono o correo',
    button: 'Buscar',
    looking: 'Buscando…',
    camera: 'Usar la cámara',
    cameraOff: 'Apagar la cámara',
    view: 'Imagen de la cámara',
    refused: 'La cámara no está disponible. Escanee o escriba el número.',
    repeated: 'Esta tarjeta se acaba de leer.',
    again: 'Otra vez',
    offline: 'Sin conexión. Escanee o escriba el número de la tarjeta.',
    unknown: 'Ninguna tarjeta con este número.',
  },
  choose: {
    whose: '¿De quién es la tarjeta?',
    which: '¿Qué tarjeta es?',
    readings: 'Las letras del lector se pueden leer de dos maneras. Compare con la tarjeta.',
  },
  member: {
    balance: 'Saldo',
    of: (goal) => `de ${goal}`,
    age: (ago) => `Saldo ${ago}, sin conexión`,
    stranger: 'Esta caja aún no conoce la tarjeta. Se comprobará cuando vuelva la conexión.',
    stamps: (count) => (count === 1 ? '1 sello' : `${count} sellos`),
    full: 'La tarjeta está llena.',
    inactive: 'Esta tarjeta no está activa.',
    amount: (currency) => `Importe en ${currency}`,
    add: 'Sumar puntos',
    noEarning: 'Los puntos de esta tarjeta no se dan aquí.',
    redeem: (name) => `Canjear: ${name}`,
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
    undone: 'Deshecho',
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
    hint: 'Digita il codice di abbinamento. La console lo mostra in «Readers».',
    label: 'Codice di abbinamento',
    connect: 'Collega',
    person: 'Accedi invece come persona',
    back: 'Indietro',
    unsent: (count) => `Non ancora inviate: ${count}. Un nuovo codice non può inviare queste registrazioni.`,
  },
  line: { on: 'In linea', off: 'Senza linea', unknown: 'Collegamento', waiting: (count) => `${count} in attesa` },
  find: {
    title: 'Prossimo cliente',
    label: 'Numero della carta',
    labelMore: 'Numero della carta, telefono o email',
    button: 'Cerca',
    looking: 'Ricerca…',
    camera: 'Usa la fotocamera',
    cameraOff: 'Spegni la fotocamera',
    view: 'Immagine della fotocamera',
    refused: 'La fotocamera non è disponibile. Scansiona o digita il numero.',
    repeated: 'Questa carta è appena stata letta.',
    again: 'Di nuovo',
    offline: 'Senza linea. Scansiona o digita il numero della carta.',
    unknown: 'Nessuna carta con questo numero.',
  },
  choose: {
    whose: 'Di chi è la carta?',
    which: 'Quale carta è?',
    readings: 'Le lettere del lettore si possono leggere in due modi. Confronta con la carta.',
  },
  member: {
    balance: 'Saldo',
    of: (goal) => `su ${goal}`,
    age: (ago) => `Saldo ${ago}, senza linea`,
    stranger: 'Questa cassa non conosce ancora la carta. Sarà controllata quando torna la linea.',
    stamps: (count) => (count === 1 ? '1 timbro' : `${count} timbri`),
    full: 'La carta è piena.',
    inactive: 'Questa carta non è attiva.',
    amount: (currency) => `Importo in ${currency}`,
    add: 'Aggiungi punti',
    noEarning: 'I punti di questa carta non si danno qui.',
    redeem: (name) => `Riscatta: ${name}`,
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
    undone: 'Annullato',
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

/** Such as "5 minutes ago". */
export function agoOf(ms: number): string {
  let value = Math.max(0, Math.round(ms / 1_000));
  for (const [unit, length] of steps) {
    if (value < length) return new Intl.RelativeTimeFormat(language).format(-value, unit);
    value = Math.floor(value / length);
  }
  return '';
}
