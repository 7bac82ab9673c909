// The till does not exist yet; its URL does.
import { Page } from '../parts/page.js';
import { texts } from '../texts.js';

export function Readers() {
  return (
    <Page title={texts.nav.readers}>
      <p>{texts.readers.later}</p>
    </Page>
  );
}
