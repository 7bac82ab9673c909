// The live desk.

import type { Hop } from '../../hops.js';
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('it');

export const desk: Catalogue['desk'] = {
  absent: 'La dimostrazione dal vivo appartiene alla demo di `npm start`. Questo servizio funziona senza.',
  ownersOnly: 'La dimostrazione dal vivo è del titolare: mostra ogni e-mail e ferma parti del servizio.',
  lead: 'Una cassa e due telefoni virtuali. Metta la carta di un socio sui telefoni, dia un timbro alla cassa e lo veda arrivare.',
  switchOn: 'Accendi i telefoni',
  switchOnHint: 'I telefoni si accendono alla prima apertura di questa pagina. Ci vogliono alcuni secondi.',
  switchingOn: 'Accensione…',
  technically: 'Che cosa succede allora',
  standIns:
    'Su questa macchina partono sostituti del servizio push di Apple e di Google Wallet. Il worker e l’API accettano i loro certificati di prova finché funzionano.',
  phones: 'Telefoni',
  find: 'Cerca un socio',
  findHint: 'nome, e-mail, telefono o numero socio; vuoto: i soci più recenti',
  cardOf: { iphone: 'iPhone: carta di', android: 'Android: carta di' },
  choose: 'Scelga un socio',
  cardOption: (name: string, program: string) => `${name}, ${program}`,
  openMember: (name: string) => `Apri ${name} in «Soci»`,
  nobody: (words: string) => `Nessun socio corrisponde a ${words}.`,
  noSaveUrl: 'Google non ha ancora creato questa carta. Riprovi tra un momento.',
  noCard: 'Ancora nessuna carta.',
  adding: 'La carta è in viaggio…',
  flightOn: 'Modalità aereo',
  flightOff: 'Esci dalla modalità aereo',
  give: 'Alla cassa',
  message: 'Messaggio per la schermata di blocco',
  firstMessage: 'Grazie per la visita',
  giveOne: { stamp: 'Dai un timbro', point: 'Dai un punto' },
  giveEach: 'Dai un timbro e un punto',
  redeem: 'Riscatta',
  undo: 'Annulla',
  firstCard: 'Metta prima una carta su un telefono: scelga di chi.',
  firstPhones: 'I telefoni non sono ancora accesi.',
  samples: 'Nessuno si è ancora iscritto?',
  /** The last name of members who are no real people. */
  sample: '(esempio)',
  join: 'Iscrivi Ada e Grace',
  joining: 'Due persone si iscrivono…',
  breakdown: 'Simula un guasto (demo)',
  breakdownHint:
    'Nessun timbro va perso quando una parte del servizio si guasta. Ne fermi una, dia un timbro e lo veda arrivare.',
  killWorker: 'Ferma gli avvisi',
  killTemporal: 'Ferma l’elenco dei compiti',
  breakdownDetail:
    'Una parte avvisa i telefoni e il software collegato; un’altra ricorda ciò che resta da fare. Ognuna si ferma nel mezzo del lavoro e riparte da sola.',
  log: 'Che cosa è successo',
  logHint: 'I tempi si contano dal momento in cui la modifica è stata salvata, ovunque sia stata fatta.',
  noHops: 'Non è ancora successo niente.',
  underWay: 'Nessun telefono lo sa ancora.',
  after: (ms: number) => `${number(ms)} ms`,
  hop: ({ what, who, name = '', detail = '', lockScreen, isSilent = false }: Hop): string => {
    const phone = who === 'android' ? 'Android' : 'iPhone';
    const sentences: Record<Hop['what'], string> = {
      changed: `${name}: ${detail}`,
      touched: `${name}: la carta è cambiata`,
      added: `${name}: la carta viene messa ${phone === 'Android' ? 'sul telefono Android' : 'sull’iPhone'}`,
      flightOn: 'Modalità aereo attiva',
      flightOff: 'Modalità aereo spenta',
      killed: detail === 'worker' ? 'Gli avvisi sono stati fermati' : 'L’elenco dei compiti è stato fermato',
      starting: 'I telefoni si accendono',
      ready: 'I telefoni sono accesi',
      mail: `E-mail: ${detail}`,
      push: 'Apple avvisa l’iPhone che una carta è cambiata',
      list: 'L’iPhone chiede quale',
      fetch: 'L’iPhone ritira la carta',
      add: 'L’iPhone riceve la carta',
      register: 'L’iPhone chiede di essere avvisato delle modifiche',
      saved: 'Android ha salvato la carta',
      face: `${phone} mostra ${detail}${lockScreen === undefined ? '' : `; schermata di blocco: ${lockScreen}`}${isSilent ? '; niente sulla schermata di blocco: Google vi mostra tre messaggi di una carta al giorno' : ''}`,
    };
    return sentences[what];
  },
  gone: 'La dimostrazione non risponde; nuovo tentativo.',
};
