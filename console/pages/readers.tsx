// The till is not there yet; this address is.
import { Page } from '../parts/page.js';
import { texts } from '../texts.js';

export function Readers() {
  return (
    <Page title={texts.nav.readers}>
      <p>{texts.readers.later}</p>
    </Page>
  );
}
