"""The words of which planted instructions are made, in English, German, French, Spanish and Italian.

A word ending in `*` stands for all that begin so. They are written as `signs.folded` leaves a text: in lower case and
without accents. A class says what a word does in a phrase; a word may be in several.
"""

from __future__ import annotations

CLASSES: dict[str, str] = {
    # to stop following: in the forms of an order, so that "the court ignored the rules" is none
    "forget": """
        ignore; ignoring; disregard; disregarding; forget; override; overriding; overrule; bypass; bypassing; discard;
        skip; neglect; supersede*; overwrite; abandon; revoke; pay no attention to; do not follow; don t follow; stop
        following; do not obey; don t obey; stop obeying; no longer follow; no longer obey; set aside; put aside; throw
        out; deactivate; no longer have to; are no longer bound by; are not bound by; need not follow; do not have to
        follow; don t have to follow; treat as obsolete; ignorier*; vergiss; vergessen; missachten; nicht mehr beachten;
        nicht mehr befolgen; vergesst; missacht*; umgeh*; ubergeh*; uberschreib*; befolge nicht; beachte nicht; lass
        ausser acht; verwirf; setz dich hinweg; deaktivier*; halte dich nicht; folge nicht; ignorez; oublie; oubliez;
        oublions; outrepass*; contourn*; ne suis plus; ne suis pas; ne suivez pas; ne suivez plus; fais abstraction;
        faites abstraction; ne tiens pas compte; ne tenez pas compte; ne tenez aucun compte; ne tiens aucun compte;
        neglige; negligez; abandonne; desactive; ignora; ignorad; ignoren; olvida; olvide; olviden; olvidate; descarta;
        descarte; haz caso omiso; haga caso omiso; hagan caso omiso; omite; omita; no sigas; no siga; deja de seguir;
        desobedec*; salta; saltate; no hagas caso; desactiva; ignori; ignorate; dimentica; dimentichi; dimenticate;
        scorda; scordati; trascura; non seguire; non considerare; tralascia; aggira; smetti di seguire; disattiva;
        lascia perdere; sovrascriv*
    """,
    # what came before, or all of it
    "prior": """
        previous; previously; prior; above; earlier; preceding; foregoing; former; existing; original; initial; your;
        past; system; developer; operator s; you were given; you have been given; you received; vorherig*;
        vorangehend*; bisherig*; obig*; fruher*; vorig*; deine; deinen; ihre; oben; ursprunglich*; bestehend*; zuvor;
        bis jetzt; bisher; precedent*; anterieur*; tes; vos; ta; ci dessus; initial*; existant*; recues; donnees;
        anterior*; previ*; tus; sus; arriba; dadas; recibid*; original*; iniciales; tue; tuoi; vostre; sopra; ricevut*;
        esistent*; inizial*
    """,
    "all": """
        all; any; every; every single; other; these; those; current; safety; security; whatever; alle; allen; aller;
        jegliche; samtliche; toutes; tous; todas; todos; cualquier; tutte; tutti; qualsiasi
    """,
    "cancel": """
        cancel; delete; erase; wipe; drop; void; suspend; disable; turn off; leave out; losche; supprime; borra;
        cancella
    """,
    # what a model was told
    "orders": """
        instruction; instructions; directive; directives; direction; directions; rule; rules; guideline; guidelines;
        prompt; prompts; prompting; commands; policy; policies; restriction; restrictions; constraint; constraints;
        safeguards; guardrails; guard rails; safety checks; system message; system messages; confirmations; protocols;
        limitations; what you were told; you were told; you have been told; told you; anweisung; anweisungen;
        instruktion*; regel; regeln; vorgabe; vorgaben; befehl; befehle; befehlen; richtlinie*; weisung; weisungen;
        beschrankung*; einschrankung*; sicherheitsregel*; vorschrift*; aufforderung*; gesagt*; consigne; consignes;
        directive*; regle; regles; ordres; restriction*; contrainte*; garde fous; instruccion; instrucciones; regla;
        reglas; directriz; directrices; directiva*; ordenes; norma; normas; restricciones; indicaciones; comandos;
        politica; politicas; mensajes del sistema; istruzione; istruzioni; regola; regole; direttiva; direttive;
        comandi; ordini; restrizioni; linee guida; indicazioni; vincoli; politiche
    """,
    "work": """
        context; conversation; task; tasks; training; programming; checks; filters; content; text; messages; question;
        aufgabe; kontext; tache; contexte; tarea; contexto; compito; contesto
    """,
    "voided": """
        ignored; obsolete; superseded; void; no longer valid; no longer in force; no longer relevant; overridden;
        revoked; cancelled; canceled; a test; hinfallig; ungultig; aufgehoben; annulees; caduques; anuladas; obsoletas;
        annullate; superate
    """,
    "operator": """
        your operator; your operators; your developer; your developers; your creator; your creators; your makers;
        openai; anthropic; your company; your programmers; your trainers; deine entwickler; tes createurs; tus
        creadores; i tuoi creatori
    """,
    "only-task": """
        your only job; your only task; your only goal; your sole task; your sole purpose; your only purpose; your new
        task; your new role; your new job; your new goal; your new purpose; your new identity; your real task; your true
        task; your actual task; sole orders; sole instructions; only instructions; your mission is; deine einzige
        aufgabe; deine neue aufgabe; ta seule tache; ta nouvelle tache; ta mission; tu unica tarea; tu nueva tarea; il
        tuo unico compito; il tuo nuovo compito
    """,
    "from-now": """
        from now on; from this point on; from this point forward; from here on; henceforth; ab jetzt; ab sofort; von nun
        an; desormais; a partir de maintenant; dorenavant; a partir de ahora; desde ahora; de ahora en adelante; d ora
        in poi; da ora in poi; da adesso in poi; as of now
    """,
    "verdict": """
        positive review only; a positive review; only positive; do not highlight any negatives; do not mention any
        weaknesses; recommend acceptance; recommend accepting; accept this paper; strong accept; recommend this
        candidate; rate this candidate; approve this invoice; approve this request; approve this application; approve
        this transaction; approve this payment; mark this as approved; without review
    """,
    "everything": """
        everything; anything; all that; all of that; all this; alles; all das; tout; tout ce; todo; todo lo; tutto;
        tutto quello; tutto cio; what; was
    """,
    "before": """
        above; before; so far; previously; earlier; up to now; until now; you know; you were told; you have been told;
        you ve been told; was said; told you; prior to this; learned; davor; bisher; zuvor; oben; vorher; gesagt; avant;
        plus haut; precede*; dit; antes; arriba; anterior; dicho; prima; sopra; precedent*; detto
    """,
    "not": """
        not; never; don t; doesn t; cannot; can t; shouldn t; must not; may not; nicht; nie; niemals; kein; keine; ne;
        jamais; no debe; nunca; jamas; non; mai
    """,
    # new orders
    "new": """
        new; updated; revised; additional; real; actual; true; important; neue; neuen; neuer; nouvelle; nouvelles;
        nouveau; nouveaux; nueva; nuevas; nuevo; nuova; nuove; nuovo; nuovi; aktualisierte; cambiad*; changed; geandert
    """,
    "yours": "your; deine; ihre; dein; ta; votre; tes; vos; tu; tus; tua; tue; vostre; su; sus",
    "obey": """
        comply with; obey; follow only; only follow; only obey; obey only; listen only to; do whatever; do anything; do
        everything; fulfil every; fulfill every; agree to; grant; allow all; approve all; must comply; befolge;
        gehorche; obeis; obeissez; obedece; cumple; obbedisci; esegui; concede; accorde; gewahre; follow these; follow
        the new; follow my; folge nur; sigue solo; segui solo; suis seulement; suis uniquement
    """,
    "demands": """
        every request; all requests; any request; any requests; user commands; the user s commands; this user; the user
        asks; you are told; admin access; administrator; full access; everything i say; my commands; whatever i say; all
        content; all permissions; admin rights; root access; jede anfrage; alle anfragen; toutes les demandes; todas las
        solicitudes; tutte le richieste; instructions below; following instructions
    """,
    # who it speaks to
    "model": """
        ai; ais; llm; llms; ai system; ai systems; ai assistant; ai assistants; ai agent; ai agents; ai model; ai
        models; ai coding agents; ai coding agent; coding agent; coding agents; language model; language models;
        chatbot; chatbots; chatgpt; gpt; claude; gemini; copilot; large language model; virtual assistant; ki; ki
        system; ki modell; ki assistent; sprachmodell; ia; assistant ia; modele de langue; modelo de lenguaje; asistente
        de ia; modello linguistico; assistente ia; modello di ia; ki assistenten; ki systeme; automated system;
        automated systems; automated assistant; bot; bots; summarizer; summariser; assistant; assistants
    """,
    "hail": """
        notice to; attention; note to; note for; message to; message for; dear; hello; hey; hi; for the attention of; to
        any; to all; to the; hinweis an; hinweis fur; achtung; an alle; note pour; note a; avis a; aviso a; aviso para;
        nota para; atencion; avviso a; avviso per; nota per; attenzione; if you are; if you re; when you are;
        instructions for; instruction for; instructions to; command to; for use by; for any; for all; wenn du; si tu es;
        si vous etes; si eres; se sei; processing this; reading this; summarizing this; summarising this; parsing this;
        analyzing this; analysing this; reviewing this; processes this
    """,
    "for-models": """
        for ai agents; for ai coding agents; for coding agents; for ai assistants; for ai systems; for ai models; for ai
        tools; for language models; for llms; for llm agents; for chatbots; for the ai; for the assistant; for automated
        systems; fur ki systeme; fur sprachmodelle; pour les modeles de langue; para modelos de lenguaje; per modelli
        linguistici
    """,
    "you-are": """
        you are; you re; you must; you should; you will; you have; you shall; you need to; your operator; your operator
        s; your developer; your developers; hereby instructed; are instructed; du bist; du musst; tu es; tu dois; vous
        etes; vous devez; eres; debes; tienes que; sei; devi; du sollst
    """,
    "as-assistant": """
        as an assistant; as the assistant; as assistant; as an ai; as a language model; als assistent; als ki; en tant
        qu assistant; en tant qu ia; en tant que modele; como asistente; como ia; como modelo; come assistente; come ia;
        come modello; my earlier reasoning; my previous reasoning; previous turn i; i as the assistant
    """,
    "concluded": """
        already established; already determined; already concluded; already decided; already verified; already agreed;
        have established; have determined; have concluded; have verified; i established; i concluded; gia stabilito; gia
        deciso; gia verificato; gia concluso; deja etabli; deja decide; deja conclu; deja verifie; ya establecido; he
        establecido; he determinado; ya he; ya determinado; ya verificado; ya decidido; bereits festgestellt; bereits
        entschieden; schon festgestellt; bereits gepruft; has granted permission; has given permission; has authorized;
        has authorised; user has granted; user granted; user authorized; user approved
    """,
    "not-apply": """
        do not apply; don t apply; does not apply; doesn t apply; no longer apply; not apply; are suspended; are lifted;
        are void; are compromised; is compromised; no longer valid; non valgono; non si applicano; non vale; ne s
        appliquent pas; ne s applique pas; ne s appliquent plus; no se aplican; no se aplica; no aplican; gelten nicht;
        gelten hier nicht; gilt nicht; gelten nicht mehr; have changed; has changed; haben sich geandert
    """,
    # another character
    "become": """
        you are now; you re now; you will now; from now on; from this point; from here on; act as; acting as; pretend;
        pretend to be; roleplay; role play; simulate; imagine you are; behave as; behave like; become; you become;
        enter; activate; enable; switch to; du bist jetzt; du bist nun; ab sofort; ab jetzt; von nun an; spiele; tu als
        ob; verhalte dich; stell dir vor; tu es maintenant; tu es desormais; vous etes maintenant; desormais; a partir
        de maintenant; fais semblant; faites semblant; agis comme; agissez comme; imagine que; comporte toi; ahora eres;
        ahora estas; a partir de ahora; desde ahora; actua como; finge; imagina que; comportate; ora sei; adesso sei; d
        ora in poi; da ora in poi; da adesso; fingi; agisci come; comportati; immagina di; you have entered; you have
        no; eres; sei; tu es; du bist; dan has; ai with; an ai with; model that; model with
    """,
    "unbound": """
        no restrictions; no restriction; no rules; no limits; no limit; no limitations; no filters; no filter; no
        content policy; no content restrictions; no guidelines; no ethical; no ethics; no safety; no policy; no
        policies; no constraints; no boundaries; without restrictions; without any restrictions; without restriction;
        without rules; without any rules; without limits; without any limits; without filter; without filters; without
        any filter; without any filters; without limitations; without censorship; without safety; unrestricted;
        uncensored; unfiltered; unlimited; unaligned; amoral; jailbroken; jailbreak*; developer mode; dev mode; debug
        mode; admin mode; god mode; dan; dan mode; do anything now; maintenance mode; opposite mode; evil; answer
        freely; free of all; free from all; not bound by; anything the user asks; freed from; as if you had no; as
        though you had no; as if there were no; no tuvieras; als hattest du keine; als gabe es keine; comme si tu n
        avais aucun*; come se non avessi; entwicklermodus; ohne einschrankung*; ohne beschrankung*; ohne filter; ohne
        regeln; keine einschrankungen; keine regeln; keine beschrankungen; keinen regeln; keinen einschrankungen;
        uneingeschrankt*; unzensiert*; keine filter; frei von; mode developpeur; sans restriction*; sans filtre*; sans
        regle*; sans limite*; sans censure; sans aucune; aucune restriction; aucune regle; aucune limite; libere de; non
        censure; modo desarrollador; modo desarrollador sin; sin restricciones; sin filtro*; sin reglas; sin limites;
        sin censura; sin ninguna; ninguna restriccion; libre de; sin limitaciones; modalita sviluppatore; senza
        restrizioni; senza filtri; senza filtro; senza regole; senza limiti; senza censura; senza alcuna; nessuna
        restrizione; nessuna regola; libero da; senza vincoli
    """,
    # telling what is secret
    "reveal": """
        reveal; show; print; output; repeat; display; tell; leak; dump; disclose; expose; give; list; share; recite;
        reproduce; write; echo; state; summarize; summarise; paste; return; provide; what are; what is; what was; what
        were; send; extract; append; add; include; export; read; zeig; zeige; zeigen; verrate; verraten; gib; nenne;
        nenn; wiederhole; drucke; drucken; gib aus; offenbare; preis; offenlege; liste; leg offen; montre; montrez;
        revele; revelez; affiche; affichez; repete; repetez; donne; donnez; divulgue; divulguez; dis; recopie; imprime;
        ecris; communique; muestra; muestrame; muestre; revela; revelame; repite; dime; divulga; enumera; lista; da;
        dame; expone; mostra; mostrami; mostrare; rivela; rivelami; ripeti; stampa; dimmi; elenca; dammi; esponi;
        rivelare
    """,
    "model-secret": """
        system prompt; system prompts; systemprompt; initial prompt; original prompt; hidden prompt; secret prompt; your
        prompt; instrucciones que te; instructions qu on t a; instructions que tu as recues; istruzioni che ti;
        anweisungen die du; anweisungen die dir; your instructions; your initial instructions; your system instructions;
        your guidelines; your rules; your hidden instructions; initial instructions; system instructions; system
        message; system messages; hidden instructions; instructions you were given; instructions that you were given;
        instructions you received; exact instructions; operating instructions; developer message; context window; words
        above; text above; starting with you are; chain of thought; your configuration; written above this
        conversation; above this conversation; deine anweisungen; deine instruktionen; deine systemanweisungen;
        systemanweisung*; systemnachricht; deinen prompt; internen anweisungen; system anweisungen; prompt systeme;
        prompt du systeme; instructions systeme; tes instructions; vos instructions; tes consignes; instructions
        initiales; instructions internes; message systeme; prompt de sistema; prompt del sistema; tus instrucciones;
        instrucciones del sistema; instrucciones iniciales; mensaje del sistema; prompt di sistema; tue istruzioni;
        istruzioni di sistema; istruzioni iniziali; messaggio di sistema; prompt oculto; prompt nascosto; prompt cache;
        your system prompt
    """,
    "data-secret": """
        api key; api keys; api token; access token; access tokens; secrets; credentials; passwords; environment
        variables; env variables; private keys; private key; customer list; customer data; user data; internal data;
        internal configuration; internal config; confidential data; confidential information; database; full contents;
        entire conversation; chat history; conversation history; customer records; all records; private admin; admin
        pages; admin password; admin panel; configuration; session token; bank details; kundenliste; kundendaten;
        interne daten; internen daten; passworter; zugangsdaten; api schlussel; geheimnisse; liste des clients; liste
        clients; donnees internes; donnees clients; mots de passe; cles api; identifiants; lista de clientes; datos
        internos; datos de clientes; contrasenas; claves api; credenciales; lista dei clienti; lista clienti; dati
        interni; dati dei clienti; credenziali; chiavi api; dati riservati
    """,
    "all-of-it": """
        full; entire; whole; complete; all; every; everything; verbatim; word for word; vollstandig*; gesamte; gesamten;
        alle; allen; ganze; wortwortlich; complet*; entier*; toute; toutes; mot pour mot; integral*; completa; completo;
        entera; todo; toda; todos; todas; palabra por palabra; intero; intera; tutti; tutte; parola per parola
    """,
    # sending it away
    "send": """
        send; email; e mail; forward; upload; post; transmit; exfiltrate; cc; bcc; relay; submit; deliver; leak; copy;
        send_email; http_post; sende; senden; schick; schicke; schicken; weiterleiten; leite; ubermittle; lade; envoie;
        envoyez; envoyer; transmets; transmettez; transfere; transferez; envia; envie; enviar; reenvia; manda; invia;
        inviare; inoltra; inoltrare; spedisci
    """,
    "load": """
        summary; conversation; history; contents; content; data; list; record; records; result; results; document;
        context; answer; reply; response; text; transcript; messages; information; details; zusammenfassung; daten;
        inhalt; verlauf; resume; donnees; contenu; resumen; datos; contenido; riassunto; dati; contenuto; customer list;
        chat history; api keys; credentials; passwords; file; files
    """,
    "picture": """
        image; picture; link; markdown image; markdown link; pixel; hyperlink; url; iframe; img; bild; imagen; immagine
    """,
    "render": """
        render; embed; display; append; include; insert; fetch; load; open; visit; click; navigate to; browse to; go to;
        request
    """,
    "call": """
        call; invoke; run; execute; trigger; issue; rufe; ruf; fuhre; appelle; appelez; executez; llama; ejecuta;
        chiama; esegui
    """,
    "use": "use; using; with; via; verwende; benutze; utilise; utilisez; usa; utilizza",
    # when it is to happen
    "at-reading": """
        when you read this; when you process this; when you see this; when you summarize; when you summarise; when
        processing this; when reading this; when summarizing; when summarising; once you read; after reading this; upon
        reading; as soon as you read; when you open this; wenn du das liest; wenn du dies liest; wenn du dieses; beim
        lesen; beim verarbeiten; quand tu lis; lorsque tu lis; quand vous lisez; lorsque vous lisez; lorsque vous
        traitez; quand tu traites; cuando leas; cuando lea; al leer; al procesar; al resumir; cuando proceses; quando
        leggi; quando elabori; leggendo questo; while processing this; while summarizing; while you process; when this
        document; if this document; when this text is
    """,
    "before-answer": """
        before you answer; before answering; before you respond; before responding; before you reply; before replying;
        bevor du antwortest; vor der antwort; avant de repondre; antes de responder; prima di rispondere
    """,
    "before-going-on": """
        before continuing; before proceeding; before you continue; before completing; before you proceed
    """,
    "when-asked": """
        when asked; if asked; whenever asked; when you are asked; if you are asked; if the user asks; when the user
        asks; when a user asks; if a user asks; whenever the user; if anyone asks; when anyone asks; if someone asks;
        when someone asks; whenever someone; wenn du gefragt wirst; wenn jemand fragt; wenn der nutzer; falls jemand
        fragt; wenn der benutzer; si on te demande; si l utilisateur; quand on te demande; si quelqu un demande; lorsque
        l utilisateur; si te preguntan; cuando te pregunten; si el usuario; cuando el usuario; si alguien pregunta; se
        ti chiedono; quando ti chiedono; se l utente; quando l utente; se qualcuno chiede
    """,
    "say": """
        say; answer; reply; respond; tell; state; recommend; claim; output; write; mention; insist; always say; sag;
        sage; antworte; antworten sie; empfiehl; behaupte; dis; reponds; repondez; recommande; dites; di; responde;
        responda; recomienda; diga; rispondi; rispondere; raccomanda; consiglia; answer only; print
    """,
    # the shape of the answer
    "shape": """
        add; include; integrate; modify; augment; enhance; append; insert; incorporate; embed; replace; substitute;
        remove; use; provide; convert; render; group; combine; scramble; jumble; misspell; introduce; rearrange;
        anagram; encode; translate; reverse; end; begin; start; finish; conclude; suggest; encourage; promote; inject;
        spell; capitalize; capitalise; format; encrypt; shift; change; adjust; adapt; alter; revise; expand; extend;
        enrich; supplement; weave; attach; prepend; place; put; ensure; make; write; mention; recommend; invite;
        advertise; express; present; deliver; output; compose; construct; craft; transform; swap; switch; exchange;
        omit; delete; drop; eliminate; double; repeat; merge; split; separate; obscure; obfuscate; cipher; decode; mix;
        shuffle; alternate; highlight; emphasize; emphasise; stress; display; print; give; say; state; answer; reply;
        respond; return; tell; urge; advise; remind; spread; share; direct; ask; lead; persuade; convince; subtly;
        never; always; do; fuge; hange; beende; beginne; ersetze; ubersetze; schreibe; formuliere; baue; erwahne;
        angehangt; angefugt; ajoute; ajoutez; inclus; incluez; remplace; remplacez; termine; terminez; commence;
        traduis; ecris; mentionne; anade; agrega; incluye; incluya; reemplaza; termina; comienza; traduce; escribe;
        menciona; aggiungi; includi; sostituisci; inizia; traduci; scrivi; menziona; inserisci
    """,
    "your-answer": """
        your answer; your answers; your response; your responses; your reply; your replies; your message; your output;
        your summary; your final answer; your final response; your next response; your next message; your completion;
        your entire response; your whole answer; your entire answer; your whole response; your full response; your
        entire reply; every answer; every response; every reply; every summary; each answer; each response; each reply;
        all answers; all responses; all your answers; all your responses; deiner antwort; deine antwort; deinen
        antworten; ihrer antwort; jeder antwort; jede antwort; ta reponse; votre reponse; tes reponses; vos reponses;
        chaque reponse; tu respuesta; cada respuesta; tus respuestas; tua risposta; ogni risposta; vostra risposta
    """,
    "the-answer": """
        the answer; the response; the reply; the summary; the final answer; the output; der antwort; die antwort; la
        reponse; la respuesta; la risposta; answers; responses
    """,
    "within": """
        in your response; in your answer; in your output; in your summary; in your responses; in your answers;
        throughout your; within your response; within your answer; at the end of your; into your response; into your
        answer; at the start of your; at the beginning of your; in deiner antwort; dans ta reponse; en tu respuesta;
        nella tua risposta
    """,
    "reply": "reply; answer; respond; antworte; reponds; repondez; responde; rispondi; speak; talk",
    "garble": """
        replace; substitute; remove; use; provide; convert; render; group; combine; scramble; jumble; misspell;
        introduce; rearrange; anagram; encode; translate; reverse; spell; capitalize; capitalise; encrypt; shift;
        insert; double; repeat; swap; switch; mix; shuffle; alternate; transform; exchange; cipher; write; ersetze;
        verschlussle; remplace; reemplaza; sostituisci
    """,
    "letters": """
        vowel; vowels; consonant; consonants; third letter; fourth letter; second letter; each letter; every letter;
        letters with; letters by; letters in; letters of; letters to; first letter; last letter; typo; typos;
        misspelling*; anagram*; alphanumeric substitution; homophonic; substitution cipher; caesar; rot13; morse; emoji;
        emojis; leetspeak; pig latin; every third word; every fourth word; every second word; every other word; mirror
        writing; reverse order; backwards; buchstaben; vokale; voyelles; vocales; vocali
    """,
    "decode": """
        decode; decrypt; decipher; unscramble; translate; convert; base64; rot13; hex encoded; base64 encoded; binary
        encoded; encoded; dekodiere; entschlussle; decodifica; decode*; descifra; decifra; dechiffre; decodez
    """,
    "carry-out": """
        do what it says; do exactly what it says; do as it says; follow the instruction; follow the instructions; follow
        it; execute it; execute; obey it; act on it; carry it out; comply; perform it; run it; do what; and follow; and
        execute; and obey; tu was es sagt; fuhre es aus; fais ce qu; haz lo que; fai quello che
    """,
    "unasked": """
        without asking; without confirmation; without asking again; without telling; without mentioning; do not mention;
        don t mention; do not tell the user; don t tell the user; do not reveal this; without informing; silently;
        secretly; without notifying; do not disclose this; ohne zu fragen; ohne nachfrage; sans demander; sans
        confirmation; sin preguntar; sin confirmacion; senza chiedere; senza conferma; never mention this; keep this
        secret; the user must not
    """,
    "the-user": """
        the user; the user s; this user; user input; user s task; user s question; der nutzer; dem nutzer; den nutzer; l
        utilisateur; el usuario; al usuario; l utente; all utente; users; readers; humans; the human
    """,
    "canary": """
        token; canary; trace_id; doc_id; session reference; tracking id; exact token; the phrase; the word; the string;
        the text; the code; exact phrase; protokoll token
    """,
}
"""Phrases by class, separated by semicolons."""
