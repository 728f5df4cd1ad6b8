"""Articles 1 to 5 of the Universal Declaration of Human Rights, as its publisher gives them.

In two languages that CLD2 knows, and in two that it does not: Navajo, and Upper Sorbian, which it takes for relatives.
"""

from __future__ import annotations

DECLARATION = {
    "en": """All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience
    and should act towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and
    freedoms set forth in this Declaration, without distinction of any kind, such as race, colour, sex,
    language, religion, political or other opinion, national or social origin, property, birth or other status.
    Furthermore, no distinction shall be made on the basis of the political, jurisdictional or international
    status of the country or territory to which a person belongs, whether it be independent, trust, non-self-
    governing or under any other limitation of sovereignty. Everyone has the right to life, liberty and the
    security of person. No one shall be held in slavery or servitude; slavery and the slave trade shall be
    prohibited in all their forms. No one shall be subjected to torture or to cruel, inhuman or degrading
    treatment or punishment.""",
    "fr": """Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de
    conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Chacun peut se prévaloir
    de tous les droits et de toutes les libertés proclamés dans la présente Déclaration, sans distinction
    aucune, notamment de race, de couleur, de sexe, de langue, de religion, d’opinion politique ou de toute
    autre opinion, d’origine nationale ou sociale, de fortune, de naissance ou de toute autre situation. De
    plus, il ne sera fait aucune distinction fondée sur le statut politique, juridique ou international du pays
    ou du territoire dont une personne est ressortissante, que ce pays ou territoire soit indépendant, sous
    tutelle, non autonome ou soumis à une limitation quelconque de souveraineté. Tout individu a droit à la vie,
    à la liberté et à la sûreté de sa personne. Nul ne sera tenu en esclavage ni en servitude ; l’esclavage et
    la traite des esclaves sont interdits sous toutes leurs formes. Nul ne sera soumis à la torture, ni à des
    peines ou traitements cruels, inhumains ou dégradants.""",
    "nv": """Bilaʼashdaʼii tʼáá ałtsoh yiníkʼehgo bidizhchįh dóó aheełtʼeego ílį́į́go bee baahóchįʼ. Eíí háníʼ dóó
    hánítshakees hwiihdaasyaʼ eíí binahjį́ʼ ahidiníłnáhgo álíleekʼehgo kʼé bee ahił niidlį́. Tsídí tʼáá ájítʼé
    beeháhazʼąʼ haahóchįʼgo dóó yiníkʼehgo nijigháo kodóó bee hooʼaʼígíí bikʼehgo tʼáadoo beeʼ ałʼą́ąʼátʼéhégóó.
    Jó díí dóoneʼé idlínígíí, hakágí anoolninígíí, asdzání dóó diné ídlį́hígíí dóó nihizaad áádóó niheʼoodlaʼ
    áádóó nihiwááshindoon baa nitsiikeesígíí áádóó bee ndahsiidzinígíí, dóó nihikéyah dóó nihiʼdizhchį́įhjį́ʼ
    bee nihaahóchiʼ. Kodóó nasgóó doohaadeetʼéégodah bee ahantsiikeesda doolééł nihiwááshindoon átʼéhą́gíí dóó
    nihił hazʼánígíí doodaiiʼ tówánáanígóó kéyah adahootʼéhígíí doodaiiʼ kéyah nijigháádę́ę́ʼ azaáshį́į́
    tʼáásahdii biłhazą́ąndi, áádóó nanáłaʼbígó bikááʼ kéhojitʼį́įgo azhą́shį́į́ doo tʼáá bi adahnahatʼáada ndi
    doodaiíʼ tʼááhó ádahnahwiijitʼáhígíí tʼáábiʼoh ndi. Tsídí tʼáá ájítʼé bee háhazʼą́ iináʼázhdoolííłgo áádóó
    ʼałdó tʼáá yiní kʼehgo hołdzilgo hołhazʼą́ądoo. Łaʼdah éí doo naalteehʼé dooleełda dóó dooháida yá naal aʼí
    dooleeł da dóó doo naaltehʼé adoolniiłgo doo bee hazʼą́ąda. Tʼáá heíída éí doo atídoolníiłda áádóó ʼałdóʼ
    doo tʼáá naʼníleʼdii diné doo ídlį́į́go baa tsehodidookosda.""",
    "hsb": """Wšitcy čłowjekojo su wot naroda swobodni a su jenacy po dostojnosći a prawach. Woni su z rozumom a
    swědomjom wobdarjeni a maja mjezsobu w duchu bratrowstwa wobchadźeć. Kóždy je woprawnjeny, w tutym wozjewjenju
    proklamowane prawa a swobody wužiwać, a to bjez kóždehožkuli rozeznawanja, kaž po rasy, barbje, splahu,
    rěči, religiji, politiskim abo druhim płeswědčenju, narodnym abo socialnym pochadźe, po zamóženju, narodźe
    abo druhim statusu . Dale njesmědźa so žane rozdźěle činić na zakładźe politiskeje, prawniskeje abo
    mjezynarodneje pozicije kraja abo teritorija, kotremuž wosoba płisłuša, njedźiwajo na to, hač je
    njewotwisny, hač pod rukowaćelstwom steji, hač njewobsedźi swójske knježerstwo abo hač podleži někajkemu
    druhemu wobmjezowanju swojeje suwerenity. Kóždy ma prawo na žiwjenje, swobodu a wěstotu wosohy. Nichtó
    njesmě so w njewólnistwje abo roboćanstwje dźeržeć; njewólnistwo a wikowanje z njewólnikami stej we wšěch
    swojich formach zakazanej. Nichtó njesmě so podćisnyć ćwělowanju abo surowemu, nječłowjeskemu abo
    ponižowacemu wobchadźenju abo chłostanju.""",
}
